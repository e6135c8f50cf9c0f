// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "host/mpi/table.hpp"

/// Handles as Fortran has them, integers. Where the host's handles are integers in C too, they are
/// the same ones and the conversions are macros; else the host has functions for them.
namespace sidelight::host::mpi {

/// The host's names of the functions that make a handle of C, and one of Fortran.
struct Conversions {
    const char* to_c;
    const char* to_fortran;
};

#if SIDELIGHT_MPI_ABI
#define SIDELIGHT_CONVERSIONS(of)                                                                  \
    {                                                                                              \
        of "_fromint", of "_toint"                                                                 \
    }
#else
#define SIDELIGHT_CONVERSIONS(of)                                                                  \
    {                                                                                              \
        of "_f2c", of "_c2f"                                                                       \
    }
#endif

template <class Handle>
[[nodiscard]] constexpr Conversions conversions() noexcept
{
    if constexpr (std::is_same_v<Handle, MPI_Win>) {
        return SIDELIGHT_CONVERSIONS("PMPI_Win");
    } else if constexpr (std::is_same_v<Handle, MPI_Info>) {
        return SIDELIGHT_CONVERSIONS("PMPI_Info");
    } else if constexpr (std::is_same_v<Handle, MPI_Group>) {
        return SIDELIGHT_CONVERSIONS("PMPI_Group");
    } else if constexpr (std::is_same_v<Handle, MPI_Datatype>) {
        return SIDELIGHT_CONVERSIONS("PMPI_Type");
    } else if constexpr (std::is_same_v<Handle, MPI_Op>) {
        return SIDELIGHT_CONVERSIONS("PMPI_Op");
    } else {
        static_assert(std::is_same_v<Handle, MPI_Request>);
        return SIDELIGHT_CONVERSIONS("PMPI_Request");
    }
}
#undef SIDELIGHT_CONVERSIONS

template <class Handle>
[[nodiscard]] Handle c_handle(MPI_Fint handle) noexcept
{
    if constexpr (std::is_integral_v<Handle>) {
        return handle;
    } else {
        static const auto convert =
            reinterpret_cast<Handle (*)(MPI_Fint)>(find_symbol(conversions<Handle>().to_c));
        return convert(handle);
    }
}

template <class Handle>
[[nodiscard]] MPI_Fint fortran_handle(Handle handle) noexcept
{
    if constexpr (std::is_integral_v<Handle>) {
        return handle;
    } else {
        static const auto convert =
            reinterpret_cast<MPI_Fint (*)(Handle)>(find_symbol(conversions<Handle>().to_fortran));
        return convert(handle);
    }
}

/// Whether the host has what a handle names, where handles are addresses, as on Open MPI: what has
/// been freed, or never was, has a number that does not lead back to it. What lies at the address
/// is read.
template <class Handle>
[[nodiscard]] bool leads_back(Handle handle) noexcept
{
    return c_handle<Handle>(fortran_handle(handle)) == handle;
}

} // namespace sidelight::host::mpi
