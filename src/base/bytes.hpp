// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sidelight {

/// `size` rounded up to a multiple of `unit`, which is a power of two.
constexpr std::size_t round_up(std::size_t size, std::size_t unit) noexcept
{
    return (size + unit - 1) & ~(unit - 1);
}

/// An address so many bytes on. What a datatype counts from need not be an object: MPI_BOTTOM is
/// null, and an offset into a window stands for an address too.
[[nodiscard]] inline std::byte* displaced(std::byte* address, std::ptrdiff_t bytes) noexcept
{
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(address) +
                                        static_cast<std::uintptr_t>(bytes));
}

/// Stores a T in one access where the target is aligned for that: a copy of the size of a register
/// is one load and one store on every compiler and processor that we know of.
template <typename T>
inline void store_whole(void* target, const void* origin) noexcept
{
    T value;
    std::memcpy(&value, origin, sizeof value);
    std::memcpy(target, &value, sizeof value);
}

/// Copies 1, 2, 4 or 8 bytes in one store that nobody sees torn if they are aligned, 16 in two;
/// answers false for other numbers. Serves a get with the sides exchanged, since an aligned load of
/// these sizes is a single one too.
[[nodiscard]] inline bool store_few_bytes(void* target, const void* origin,
                                          std::size_t bytes) noexcept
{
    if (bytes == sizeof(std::uint64_t)) [[likely]] {
        store_whole<std::uint64_t>(target, origin);
        return true;
    }
    switch (bytes) {
    case 4:
        store_whole<std::uint32_t>(target, origin);
        return true;
    case 2:
        store_whole<std::uint16_t>(target, origin);
        return true;
    case 1:
        store_whole<std::uint8_t>(target, origin);
        return true;
    case 16:
        store_whole<std::uint64_t>(target, origin);
        store_whole<std::uint64_t>(static_cast<std::byte*>(target) + 8,
                                   static_cast<const std::byte*>(origin) + 8);
        return true;
    default:
        return false;
    }
}

/// Copies bytes that do not overlap, few of them as above.
inline void store_bytes(void* target, const void* origin, std::size_t bytes) noexcept
{
    if (!store_few_bytes(target, origin, bytes)) {
        std::memcpy(target, origin, bytes);
    }
}

} // namespace sidelight
