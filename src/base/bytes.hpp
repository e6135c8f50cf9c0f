// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sidelight {

/// Stores a T in one access where the target is aligned for that.
template <typename T>
inline void store_whole(void* target, const void* origin) noexcept
{
    T value;
    std::memcpy(&value, origin, sizeof value);
    if (reinterpret_cast<std::uintptr_t>(target) % sizeof(T) == 0) {
        __atomic_store_n(static_cast<T*>(target), value, __ATOMIC_RELAXED);
    } else {
        std::memcpy(target, &value, sizeof value);
    }
}

/// Copies bytes that do not overlap; 1, 2, 4 and 8 of them, aligned, in one store that nobody sees
/// torn, 16 in two. The hot part of every put; serves a get with the sides exchanged, since
/// an aligned load of these sizes is a single one too.
inline void store_bytes(void* target, const void* origin, std::size_t bytes) noexcept
{
    switch (bytes) {
    case 8:
        return store_whole<std::uint64_t>(target, origin);
    case 4:
        return store_whole<std::uint32_t>(target, origin);
    case 2:
        return store_whole<std::uint16_t>(target, origin);
    case 1:
        return store_whole<std::uint8_t>(target, origin);
    case 16:
        store_whole<std::uint64_t>(target, origin);
        return store_whole<std::uint64_t>(static_cast<std::byte*>(target) + 8,
                                          static_cast<const std::byte*>(origin) + 8);
    default:
        std::memcpy(target, origin, bytes);
    }
}

} // namespace sidelight
