// SPDX-License-Identifier: BSD-3-Clause
#include <sidelight.h>

#include "api/entry.hpp"
#include "api/fortran_arguments.hpp"
#include "api/pass_through.hpp"
#include "runtime/memory_handles.hpp"

/// Memory handles (P2, section 4.2). What the calls promise: include/sidelight.h.
using namespace sidelight;
using namespace sidelight::api;
using namespace sidelight::runtime;

namespace {

static_assert(rma::memory_handle_bytes <= MPIX_MAX_MEMHANDLE_SIZE);

template <class Call>
int with_parent(MPI_Win parent, Call call) noexcept
{
    WindowObject* object = window_table::find(parent);
    return object != nullptr ? host::mpi::answer_window(call(*object), parent) : refuse(parent);
}

Status create(WindowObject& parent, void* base, MPI_Aint size, MPI_Info info, void* memhandle,
              int* memhandle_size) noexcept
{
    if (memhandle == nullptr || memhandle_size == nullptr) {
        return Status::argument;
    }
    if (!is_info(info)) {
        return Status::info;
    }
    rma::MemoryHandle made;
    const Status status = create_memory_handle(parent, base, size, info, made);
    if (status == Status::ok) {
        rma::write_memory_handle(made, memhandle);
        *memhandle_size = static_cast<int>(rma::memory_handle_bytes);
    }
    return status;
}

/// A handle that is none is an error of its own, whatever else is wrong.
Status open(const WindowObject& parent, const void* memhandle, const HandleWindowRequest& request,
            MPI_Win* newwin) noexcept
{
    if (memhandle == nullptr || newwin == nullptr) {
        return Status::argument;
    }
    if (!is_info(request.info)) {
        return Status::info;
    }
    const auto handle = rma::read_memory_handle(memhandle);
    return handle ? create_handle_window(parent, *handle, request, newwin) : Status::argument;
}

Status release(WindowObject& parent, void* memhandle) noexcept
{
    const auto handle = memhandle != nullptr ? rma::read_memory_handle(memhandle) : std::nullopt;
    if (!handle) {
        return Status::argument;
    }
    const Status status = release_memory_handle(parent, *handle);
    if (status == Status::ok) {
        rma::spoil_memory_handle(memhandle);
    }
    return status;
}

} // namespace

SIDELIGHT_ENTRY int MPIX_Memhandle_create(void* base, MPI_Aint size, MPI_Info info,
                                          MPI_Win parentwin, void* memhandle, int* memhandle_size)
{
    return with_parent(parentwin, [&](WindowObject& parent) {
        return create(parent, base, size, info, memhandle, memhandle_size);
    });
}
SIDELIGHT_PROFILED(Memhandle_create)

SIDELIGHT_ENTRY int MPIX_Win_from_memhandle(const void* memhandle, MPI_Aint size, int disp_unit,
                                            MPI_Info info, int target, MPI_Win parentwin,
                                            MPI_Win* newwin)
{
    return with_parent(parentwin, [&](const WindowObject& parent) {
        return open(parent, memhandle, {size, disp_unit, info, target}, newwin);
    });
}
SIDELIGHT_PROFILED(Win_from_memhandle)

SIDELIGHT_ENTRY int MPIX_Memhandle_release(void* memhandle, MPI_Win parentwin)
{
    return with_parent(parentwin, [&](WindowObject& parent) { return release(parent, memhandle); });
}
SIDELIGHT_PROFILED(Memhandle_release)

// The same for Fortran, as in nonblocking.cpp.
SIDELIGHT_ENTRY void mpix_memhandle_create_(FortranArgument<void*> base, const MPI_Aint* size,
                                            FortranArgument<MPI_Info> info,
                                            FortranArgument<MPI_Win> parentwin,
                                            FortranArgument<void*> memhandle,
                                            MPI_Fint* memhandle_size, MPI_Fint* error)
{
    int bytes = 0;
    const int code = MPIX_Memhandle_create(
        from_fortran<void*>(base), *size, from_fortran<MPI_Info>(info),
        from_fortran<MPI_Win>(parentwin), from_fortran<void*>(memhandle), &bytes);
    if (code == MPI_SUCCESS) {
        *memhandle_size = bytes;
    }
    return_to_fortran(code, error);
}
SIDELIGHT_PROFILED_FORTRAN(memhandle_create_)

SIDELIGHT_ENTRY void mpix_win_from_memhandle_(FortranArgument<const void*> memhandle,
                                              const MPI_Aint* size, const MPI_Fint* disp_unit,
                                              FortranArgument<MPI_Info> info,
                                              const MPI_Fint* target,
                                              FortranArgument<MPI_Win> parentwin, MPI_Fint* newwin,
                                              MPI_Fint* error)
{
    MPI_Win made = MPI_WIN_NULL;
    const int code = MPIX_Win_from_memhandle(from_fortran<const void*>(memhandle), *size,
                                             *disp_unit, from_fortran<MPI_Info>(info), *target,
                                             from_fortran<MPI_Win>(parentwin), &made);
    return_to_fortran(code, made, newwin, error);
}
SIDELIGHT_PROFILED_FORTRAN(win_from_memhandle_)

SIDELIGHT_ENTRY void mpix_memhandle_release_(FortranArgument<void*> memhandle,
                                             FortranArgument<MPI_Win> parentwin, MPI_Fint* error)
{
    return_to_fortran(
        MPIX_Memhandle_release(from_fortran<void*>(memhandle), from_fortran<MPI_Win>(parentwin)),
        error);
}
SIDELIGHT_PROFILED_FORTRAN(memhandle_release_)
