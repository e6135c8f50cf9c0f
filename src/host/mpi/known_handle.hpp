// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "host/mpi/table.hpp"

namespace sidelight::host::mpi {

/// Whether the host has what a handle names, where handles are addresses, as on Open MPI: the
/// number that is found there, Fortran's handle, does not lead back to what has been freed, or
/// never was. `number_name` and `handle_name` are the host's functions from one to the other. What
/// lies at the address is read.
template <class Handle>
[[nodiscard]] bool leads_back(Handle handle, const char* number_name,
                              const char* handle_name) noexcept
{
    if constexpr (std::is_integral_v<Handle>) {
        return true;
    } else {
        static const auto number_of =
            reinterpret_cast<MPI_Fint (*)(Handle)>(find_symbol(number_name));
        static const auto handle_of =
            reinterpret_cast<Handle (*)(MPI_Fint)>(find_symbol(handle_name));
        return handle_of(number_of(handle)) == handle;
    }
}

} // namespace sidelight::host::mpi
