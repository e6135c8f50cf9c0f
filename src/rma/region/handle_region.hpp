// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/list.hpp"
#include "rma/handle_rules.hpp"
#include "rma/region/region_name.hpp"

namespace sidelight::rma {

class HandleRegions;
struct MappedExtent;

/// A region of one member that a memory handle names, as this process has opened it: what the
/// window of a handle reaches, in place of what its target has attached. Operations that are under
/// way hold it, too. Guarded by the engine, but for `at`.
struct HandleRegion {
    static constexpr std::uint64_t never = ~std::uint64_t{0};

    // Written before the window is handed out.
    RegionName name = no_region;
    int rank = 0;                ///< of its owner
    std::uint64_t first = 0;     ///< address at the owner
    std::uint64_t size = 0;      ///< bytes that may be reached, not more than the region has
    std::int64_t disp_unit = 1;  ///< bytes
    std::uint64_t all_bytes = 0; ///< of the region, as the handle says
    const std::atomic<std::uint64_t>* current = &nowhere; ///< generation of the owner's table

    std::byte* data = nullptr; ///< where `first` is mapped here; set once
    /// Generation of the owner's table at which it was found there, and mapped. Released after
    /// `data`, acquired before it: the direct path does not hold the engine.
    std::atomic<std::uint64_t> direct{never};

    std::uint64_t found = never;    ///< generation of the latest look-up
    bool there = false;             ///< what that has said
    bool lasting = false;           ///< its file lives as long as its owner
    MappedExtent* extent = nullptr; ///< that it lies in, where it is mapped
    std::uint64_t users = 1;        ///< its window, and operations
    HandleRegions* in = nullptr;    ///< those of its parent; null: closed, or the parent is gone
    Links<HandleRegion> among{};    ///< those of its parent

    /// The bytes at the displacement, if they lie in it, it is mapped and not released as far as
    /// this node knows. Null: ask the long way. `wanted`: 1 byte to 2^63 - 1.
    [[nodiscard, gnu::always_inline]] std::byte* at(std::int64_t displacement,
                                                    std::uint64_t wanted) const noexcept
    {
        std::int64_t offset = 0;
        if (__builtin_mul_overflow(displacement, disp_unit, &offset)) [[unlikely]] {
            return nullptr;
        }
        const auto start = static_cast<std::uint64_t>(offset); // negative: out of reach
        if (start >= size || wanted > size - start || !is_current()) [[unlikely]] {
            return nullptr;
        }
        return data + start;
    }
    [[nodiscard, gnu::always_inline]] bool is_current() const noexcept
    {
        return rules::still_holds(direct.load(std::memory_order_acquire),
                                  current->load(std::memory_order_acquire));
    }

private:
    static inline constinit std::atomic<std::uint64_t> nowhere{0};
};

} // namespace sidelight::rma
