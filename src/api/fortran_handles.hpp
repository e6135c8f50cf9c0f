// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "host/mpi/table.hpp"

/// Handles as Fortran has them, integers. Where the host's handles are integers in C too, they are
/// the same ones and the conversions are macros; else the host has functions for them.
namespace sidelight::api {

template <typename To, typename From>
[[nodiscard]] To convert_handle(From handle, [[maybe_unused]] To (*convert)(From)) noexcept
{
    if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
        return handle;
    } else {
        return convert(handle);
    }
}

template <typename To, typename From>
[[nodiscard]] auto find_conversion(const char* name) noexcept
{
    return reinterpret_cast<To (*)(From)>(host::mpi::find_symbol(name));
}

[[nodiscard]] inline MPI_Win window_of(MPI_Fint handle) noexcept
{
    static const auto convert = find_conversion<MPI_Win, MPI_Fint>("PMPI_Win_f2c");
    return convert_handle(handle, convert);
}

[[nodiscard]] inline MPI_Group group_of(MPI_Fint handle) noexcept
{
    static const auto convert = find_conversion<MPI_Group, MPI_Fint>("PMPI_Group_f2c");
    return convert_handle(handle, convert);
}

[[nodiscard]] inline MPI_Fint fortran_handle(MPI_Request request) noexcept
{
    static const auto convert = find_conversion<MPI_Fint, MPI_Request>("PMPI_Request_c2f");
    return convert_handle(request, convert);
}

} // namespace sidelight::api
