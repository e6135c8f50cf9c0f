// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>

namespace sidelight::host::mpi {

/// A handle as a number, another one for each: it is an integer on some hosts, a pointer on others.
template <class Handle>
[[nodiscard]] inline std::uint64_t bits_of(Handle handle) noexcept
{
    std::uint64_t bits = 0;
    static_assert(sizeof handle <= sizeof bits);
    std::memcpy(&bits, &handle, sizeof handle);
    return bits;
}

} // namespace sidelight::host::mpi
