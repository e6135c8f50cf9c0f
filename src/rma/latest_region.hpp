// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rma/region_table.hpp"

namespace sidelight::rma {

/// The region of a member's table that was found last, for the direct path. All zero: none. Written
/// by MappedRegions, which looks up what this does not know.
struct LatestRegion {
    std::uint64_t first = 0; ///< address at the owner
    std::uint64_t bytes = 0;
    std::uint64_t generation = 0; ///< of the owner's table when it was looked up
    std::byte* data = nullptr;    ///< where it is mapped here

    /// The bytes at the owner's address, if they lie in it and it is still attached. Null: unknown.
    [[nodiscard, gnu::always_inline]] std::byte*
    at(const RegionTableRoot& root, std::uint64_t address, std::uint64_t wanted) const noexcept
    {
        const std::uint64_t offset = address - first;
        if (offset >= bytes || wanted > bytes - offset ||
            root.generation.load(std::memory_order_acquire) != generation) [[unlikely]] {
            return nullptr;
        }
        std::byte* found = data + offset;
        if (found == nullptr) {
            __builtin_unreachable(); // spares the callers a test
        }
        return found;
    }
};

} // namespace sidelight::rma
