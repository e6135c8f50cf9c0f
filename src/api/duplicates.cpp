// SPDX-License-Identifier: BSD-3-Clause
#include <sidelight.h>

#include "api/entry.hpp"
#include "api/fortran_arguments.hpp"
#include "api/pass_through.hpp"
#include "runtime/window_duplicate.hpp"

/// More handles of one window (P2, section III). What the call promises: include/sidelight.h.
using namespace sidelight;
using namespace sidelight::api;
using namespace sidelight::runtime;

namespace {

Status duplicate(const WindowObject& parent, MPI_Info info, MPI_Win* newwin) noexcept
{
    if (newwin == nullptr) {
        return Status::argument;
    }
    if (parent.region != nullptr) { // another is made of its memory handle
        return Status::rma_flavor;
    }
    return is_info(info) ? duplicate_window(parent, info, newwin) : Status::info;
}

} // namespace

SIDELIGHT_ENTRY int MPIX_Win_dup_with_info(MPI_Win win, MPI_Info info, MPI_Win* newwin)
{
    const WindowObject* parent = window_table::find(win);
    return parent != nullptr ? host::mpi::answer_window(duplicate(*parent, info, newwin), win)
                             : refuse(win);
}
SIDELIGHT_PROFILED(Win_dup_with_info)

SIDELIGHT_ENTRY void mpix_win_dup_with_info_(FortranArgument<MPI_Win> win,
                                             FortranArgument<MPI_Info> info, MPI_Fint* newwin,
                                             MPI_Fint* error)
{
    MPI_Win made = MPI_WIN_NULL;
    const int code =
        MPIX_Win_dup_with_info(from_fortran<MPI_Win>(win), from_fortran<MPI_Info>(info), &made);
    return_to_fortran(code, made, newwin, error);
}
SIDELIGHT_PROFILED_FORTRAN(win_dup_with_info_)
