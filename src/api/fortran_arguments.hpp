// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "host/mpi/fortran_handles.hpp"

/// Arguments as Fortran passes them: all by reference, handles as integers, and a buffer as its
/// address, which for MPI_BOTTOM is that of a variable of the host.
namespace sidelight::api {

template <class Type>
inline constexpr bool is_buffer = std::is_same_v<Type, const void*> || std::is_same_v<Type, void*>;

/// Displacements and large counts, which are 64 bits in Fortran, too.
template <class Type>
inline constexpr bool is_long = std::is_integral_v<Type> && sizeof(Type) > sizeof(MPI_Fint);

/// What comes for an argument that is a `Type` in C.
template <class Type>
using FortranArgument =
    std::conditional_t<is_buffer<Type>, Type,
                       std::conditional_t<is_long<Type>, const Type*, const MPI_Fint*>>;

/// MPI_BOTTOM of mpif.h and the module mpi, or of mpi_f08.
[[nodiscard]] inline bool is_fortran_bottom(const void* address) noexcept
{
    using host::mpi::find_in_program;
    // MPICH keeps the address of its variable in another; its mpi_f08 has a variable of its own.
    static const auto* const kept = static_cast<void* const*>(find_in_program("MPIR_F_MPI_BOTTOM"));
    static const void* const of_f08 = find_in_program("MPIR_F08_MPI_BOTTOM");
    static const void* const of_openmpi = find_in_program("mpi_fortran_bottom_");
    return (kept != nullptr && address == *kept) || address == of_f08 || address == of_openmpi;
}

template <class Type>
[[nodiscard]] Type from_fortran(FortranArgument<Type> argument) noexcept
{
    if constexpr (is_buffer<Type>) {
        return is_fortran_bottom(argument) ? nullptr : argument;
    } else if constexpr (is_long<Type> || std::is_same_v<Type, int>) {
        return *argument; // where handles are integers in C, they are the same ones
    } else {
        return host::mpi::c_handle<Type>(*argument);
    }
}

/// `error` is null where a program leaves ierror out.
inline void return_to_fortran(int code, MPI_Fint* error) noexcept
{
    if (error != nullptr) {
        *error = code;
    }
}

/// As in C, the request or window is not set on error.
template <class Handle>
void return_to_fortran(int code, Handle made, MPI_Fint* handle, MPI_Fint* error) noexcept
{
    if (code == MPI_SUCCESS) {
        *handle = host::mpi::fortran_handle(made);
    }
    return_to_fortran(code, error);
}

} // namespace sidelight::api
