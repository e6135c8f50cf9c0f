// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/bytes.hpp"
#include "rma/accumulate/accumulates.hpp"
#include "rma/active/exclusion.hpp"
#include "rma/epoch/lock_queue.hpp"
#include "rma/region/region_table.hpp"

/// What the members of a window write into each other: a block of counters per member. On one node
/// the blocks lie in shared memory and every member writes them itself; for a member elsewhere its
/// own engine writes them when a message says so. Nothing here is ever waited for by a call.
namespace sidelight::rma {

/// The notices of one peer. Written by that peer alone, only ever upwards; read here. What it has
/// offered this member counts as done itself: then nobody else may.
struct PeerNotices {
    std::atomic<std::uint64_t> granted{0}; ///< exposures that the peer has opened for this member
    std::atomic<std::uint64_t> done{0};    ///< accesses to this member that the peer has finished
};

/// What a neighbour offers who waits for it. See Offers.
struct OfferWord {
    std::atomic<std::uint64_t> offer{0}; ///< its OfferState, OfferKind and number
    std::atomic<std::uint64_t> at{0};    ///< where in its memory the neighbour has the rest
};

/// Where a member's counters of notifications are; all zero: it has none. Written by the member
/// alone, while nobody may notify it; `number` comes last.
struct NotificationRoot {
    std::atomic<std::uint64_t> number{0};  ///< of counters
    std::atomic<std::uint64_t> process{0}; ///< of their memory: owner and descriptor
    std::atomic<std::uint64_t> inode{0};
    std::atomic<std::uint64_t> offset{0};
};

/// The block of one member, followed in memory by one PeerNotices for each member of the window and
/// one OfferWord for each neighbour.
struct Control {
    LockQueue lock;
    AccumulateBlock accumulates;
    RegionTableRoot regions; ///< of a dynamic window
    NotificationRoot notifications;
    ActiveBlock active;

    [[nodiscard]] PeerNotices& notices(int peer) noexcept
    {
        return reinterpret_cast<PeerNotices*>(this + 1)[peer];
    }

    /// Of the neighbour with that number among those on the node, in a window of `members`.
    [[nodiscard]] OfferWord& offers(std::size_t members, std::uint32_t neighbour) noexcept
    {
        auto* const behind = reinterpret_cast<PeerNotices*>(this + 1) + members;
        return reinterpret_cast<OfferWord*>(behind)[neighbour];
    }

    /// Bytes of a block in a window of `members`, so many of them on the node: a multiple of a
    /// cache line.
    [[nodiscard]] static std::size_t bytes(std::size_t members, std::size_t neighbours) noexcept
    {
        const std::size_t all =
            sizeof(Control) + members * sizeof(PeerNotices) + neighbours * sizeof(OfferWord);
        constexpr std::size_t cache_line = 64;
        return round_up(all, cache_line);
    }
    /// The same where all may be.
    [[nodiscard]] static std::size_t bytes(std::size_t members) noexcept
    {
        return bytes(members, members);
    }

    /// Makes a block in `bytes(members)` bytes of zeroed, 64-byte aligned memory. The notices are
    /// zero already, and pages of those that nobody uses stay without memory.
    static Control* create(void* memory) noexcept;
};

} // namespace sidelight::rma
