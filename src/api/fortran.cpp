// SPDX-License-Identifier: BSD-3-Clause
#include "api/entry.hpp"
#include "api/window_query.hpp"
#include "host/mpi/table.hpp"

/// Fortran comes to us through the C functions that its bindings call, with one exception: asking a
/// window for an attribute goes from the binding straight into the host, which knows its handle and
/// not our window. So that one binding is taken over, under the name that gfortran gives it.
/// The module mpi_f08 has another, which still answers for the handle.
using namespace sidelight;
using namespace sidelight::api;

namespace {

using Binding = void(const MPI_Fint* win, const MPI_Fint* keyval, MPI_Aint* value, MPI_Fint* flag,
                     MPI_Fint* error);

/// MPICH has two numbers for each predefined key; that of Fortran is the next one after that of C.
constexpr MPI_Fint fortran_above_c = MPI_WIN_SIZE - MPI_WIN_BASE == 2 ? 1 : 0;

MPI_Win window_of(MPI_Fint handle) noexcept
{
#ifdef MPI_Win_f2c
    return MPI_Win_f2c(handle);
#else
    static const auto convert =
        reinterpret_cast<MPI_Win (*)(MPI_Fint)>(host::mpi::find_symbol("PMPI_Win_f2c"));
    return convert(handle);
#endif
}

void get_attr(Binding* host_binding, const MPI_Fint* win, const MPI_Fint* keyval, MPI_Aint* value,
              MPI_Fint* flag, MPI_Fint* error) noexcept
{
    WindowObject* object = window_table::find(window_of(*win));
    const auto predefined =
        object == nullptr ? std::nullopt : predefined_attribute(*object, *keyval - fortran_above_c);
    if (predefined) {
        *value = predefined->value;
        *flag = 1;
        *error = MPI_SUCCESS;
    } else {
        host_binding(win, keyval, value, flag, error);
    }
}

} // namespace

SIDELIGHT_ENTRY void mpi_win_get_attr_(const MPI_Fint* win, const MPI_Fint* keyval, MPI_Aint* value,
                                       MPI_Fint* flag, MPI_Fint* error)
{
    static Binding* const binding =
        reinterpret_cast<Binding*>(host::mpi::find_symbol("mpi_win_get_attr_"));
    get_attr(binding, win, keyval, value, flag, error);
}

SIDELIGHT_ENTRY void pmpi_win_get_attr_(const MPI_Fint* win, const MPI_Fint* keyval,
                                        MPI_Aint* value, MPI_Fint* flag, MPI_Fint* error)
{
    static Binding* const binding =
        reinterpret_cast<Binding*>(host::mpi::find_symbol("pmpi_win_get_attr_"));
    get_attr(binding, win, keyval, value, flag, error);
}
