// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "rma/epoch/control.hpp"
#include "rma/epoch/epoch.hpp"

namespace sidelight::rma {

struct Offer;

/// What the epochs of this process and one member of a window have counted. All zero: there was no
/// contact yet. Guarded by the engine.
struct alignas(64) Peer {
    Control* control = nullptr; ///< its block, where that is mapped here
    Epoch* epoch = nullptr;     ///< the open lock or access epoch that reaches it
    std::uint32_t index = 0;    ///< of the peer in that
    int next_lost = 0;          ///< the next member to give up, by rank + 1
    std::uint32_t here = 0;     ///< its number among those on this node

    std::uint64_t accesses = 0;      ///< access epochs activated towards it (P1: a)
    std::uint64_t exposures = 0;     ///< exposure epochs activated towards it (P1: e)
    std::uint64_t done = 0;          ///< accesses to it that are finished and announced
    std::uint64_t lock_requests = 0; ///< places asked for in its queue, where it is elsewhere
    std::uint64_t lock_grants = 0;   ///< those of them that were admitted

    // Where it is elsewhere: its places in the queue here, and notices that must not count before
    // zero-copy puts that were sent before them.
    std::uint64_t admitted = 0;           ///< places that were admitted
    std::uint32_t places[2] = {};         ///< of those the ones that it has not left, by type
    std::uint32_t leaving[2] = {};        ///< places that it leaves when the notices count, by type
    std::uint32_t behind = 0;             ///< its notices wait for that zero-copy put
    std::uint32_t accesses_announced = 0; ///< so many accesses count as done then

    Offer* offer = nullptr;       ///< what is offered in its block
    std::uint64_t early = 0;      ///< the last access to it whose closing call has returned early
    std::uint64_t early_over = 0; ///< the last of those that is over towards it

    /// Operations on it belong to that epoch from now on; null: to none.
    void lead_to(Epoch* open, std::uint32_t of_the_peer = 0) noexcept
    {
        epoch = open;
        index = of_the_peer;
    }
    [[nodiscard]] std::uint32_t& places_of(LockType type) noexcept
    {
        return places[static_cast<int>(type)];
    }
    [[nodiscard]] std::uint32_t& leaving_of(LockType type) noexcept
    {
        return leaving[static_cast<int>(type)];
    }
};

} // namespace sidelight::rma
