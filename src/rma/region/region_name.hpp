// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace sidelight::rma {

/// Names a region of a member's table that a memory handle stands for: its place there in the low
/// bits, above them which of all that ever were there, and a mark that no attached region has. No
/// name is given twice in the life of a window.
using RegionName = std::uint64_t;
inline constexpr RegionName no_region = 0;

inline constexpr unsigned region_slot_bits = 24;
inline constexpr std::uint64_t most_region_slots = std::uint64_t{1} << region_slot_bits;
inline constexpr RegionName named_mark = std::uint64_t{1} << 63;

[[nodiscard]] constexpr RegionName region_name(std::uint64_t number, std::uint64_t slot) noexcept
{
    return named_mark | number << region_slot_bits | slot;
}
[[nodiscard]] constexpr std::uint64_t slot_of(RegionName name) noexcept
{
    return name & (most_region_slots - 1);
}

} // namespace sidelight::rma
