// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/doorbell.hpp"
#include "fabric/remote_memory.hpp"
#include "rma/accumulate/accumulates.hpp"
#include "rma/region/mapped_regions.hpp"

namespace sidelight::rma {

/// What is known of the key to a member's memory.
enum class KeyState : std::uint8_t { unknown, asked, settled };

/// How this process reaches the memory of one member of a window. All zero: there was no contact
/// yet; without one it may be `lost`, too. The first line is what the direct path reads;
/// Mapped::open and close alone write `reach` and `flushable`, and `latest` is open as
/// `regions_open` says.
struct alignas(64) Target {
    std::byte* base = nullptr;   ///< its memory, where it is mapped here
    std::uint64_t size = 0;      ///< bytes
    std::uint64_t disp_unit = 0; ///< bytes
    /// Bytes from `base` on that operations may reach at once, else 0. Released by whoever holds
    /// the engine; acquired by the direct path, which may not hold it.
    std::atomic<std::uint64_t> reach{0};
    AccumulateBlock* accumulates = nullptr; ///< its block, where that is mapped here
    MappedRegions* regions = nullptr;    ///< dynamic window: what it has attached, as far as that
                                         ///< can be mapped here
    std::atomic<bool> flushable{false};  ///< whatever was issued is complete, and may be flushed
    bool mapped = false;                 ///< the route, decided once: loads and stores, or not
    bool met = false;                    ///< what is known of it stands here
    bool lost = false;                   ///< it cannot be reached any more
    int peer = 0;                        ///< its number in the fabric
    std::uint32_t row_bytes = 0;         ///< see AccumulateTarget
    KeyState key = KeyState::unknown;    ///< to it
    bool regions_open = false;           ///< dynamic window: they may be reached at once
    std::atomic<bool> concurrent{false}; ///< the epoch asserts MPIX_MODE_CONCURRENT_AM; as `reach`

    /// Dynamic window, in place of `reach`: what the direct path used last.
    LatestRegion latest{};
    Doorbell* bell = nullptr;               ///< where it sleeps, if that is mapped here
    fabric::RemoteMemory* remote = nullptr; ///< what the fabric can do with its memory

    void handle_regions(bool open) noexcept
    {
        regions_open = open;
        latest.open_up_to.store(open ? latest.last : 0, std::memory_order_release);
    }
};
static_assert(sizeof(Target) == 128);

/// A member whose block is mapped here, as accumulates see it.
[[nodiscard]] inline AccumulateTarget accumulate_target(Target& target, int rank) noexcept
{
    return {.block = *target.accumulates,
            .number = static_cast<std::uint32_t>(rank) + 1,
            .row_bytes = target.row_bytes};
}

/// What operations may do at once with a member's memory where that is mapped: a view of the epoch
/// that is open towards it.
struct Opening {
    bool reachable = false;  ///< the epoch is granted, and nothing before them is under way
    bool flushable = false;  ///< the same, and it has flushes, which nothing has to be told by
    bool concurrent = false; ///< active messages of it may run beside one another
};

} // namespace sidelight::rma
