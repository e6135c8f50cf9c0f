// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/operation/target.hpp"
#include "rma/region/handle_region.hpp"

/// What the direct path may reach: in registers, and inlined.
namespace sidelight::rma {

/// Among the first `reach` bytes of a target's memory; null: not inside.
[[nodiscard, gnu::always_inline]] inline std::byte* within(const Target& target,
                                                           std::int64_t displacement,
                                                           std::uint64_t bytes,
                                                           std::uint64_t reach) noexcept
{
    std::int64_t signed_offset = 0;
    if (__builtin_mul_overflow(displacement, static_cast<std::int64_t>(target.disp_unit),
                               &signed_offset)) [[unlikely]] {
        return nullptr;
    }
    const auto offset = static_cast<std::uint64_t>(signed_offset); // negative: out of reach
    if (offset >= reach || bytes > reach - offset) [[unlikely]] {
        return nullptr;
    }
    std::byte* found = target.base + offset;
    if (found == nullptr) {
        __builtin_unreachable(); // spares the callers a test
    }
    return found;
}

/// Whether a rank is the owner of the region that a memory handle names, and open: what may be
/// flushed unseen is granted, with nothing under way.
[[nodiscard, gnu::always_inline]] inline bool is_open(const HandleRegion& region,
                                                      const Target* targets, int rank) noexcept
{
    return rank == region.rank && targets[rank].flushable.load(std::memory_order_acquire);
}

/// In that region; null: not now, or not inside.
[[nodiscard, gnu::always_inline]] inline std::byte* in_region(const HandleRegion& region,
                                                              const Target* targets, int rank,
                                                              std::int64_t displacement,
                                                              std::uint64_t bytes) noexcept
{
    return is_open(region, targets, rank) ? region.at(displacement, bytes) : nullptr;
}

} // namespace sidelight::rma
