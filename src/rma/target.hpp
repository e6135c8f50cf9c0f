// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/doorbell.hpp"
#include "fabric/remote_memory.hpp"
#include "rma/control.hpp"
#include "rma/epoch.hpp"
#include "rma/flight.hpp"
#include "rma/mapped_regions.hpp"
#include "rma/series.hpp"

namespace sidelight::rma {

/// What is known of the key to a member's memory.
enum class KeyState : std::uint8_t { unknown, asked, settled };

/// How this process reaches one member of a window, and how far it has got with it. All zero: there
/// was no contact yet.
/// The first line is what the direct path reads.
struct alignas(64) Target {
    std::byte* base = nullptr;   ///< its memory, where it is mapped here
    std::uint64_t size = 0;      ///< bytes
    std::uint64_t disp_unit = 0; ///< bytes
    /// Bytes from `base` on that operations may reach at once: `size` while the open epoch is
    /// active and granted, with nothing recorded before them, else 0. Released by whoever holds the
    /// engine; acquired by the direct path, which may not hold it.
    std::atomic<std::uint64_t> reach{0};
    std::atomic<bool> flushable{false}; ///< the same, and the epoch is a passive one
    bool mapped = false;                ///< the road, decided once: loads and stores, or messages
    bool met = false;                   ///< what is known of it stands here
    bool lost = false;                  ///< it cannot be reached any more
    bool greeted = false;               ///< it was sent something
    Light light = Light::none;          ///< what of it is held without an epoch
    LockType light_type = LockType::shared;
    int peer = 0;                     ///< its number in the fabric
    std::uint32_t part = 0;           ///< index of the target in `epoch`
    Control* control = nullptr;       ///< its block, where it is mapped here
    MappedRegions* regions = nullptr; ///< dynamic window: what it has attached, as far as that
                                      ///< can be mapped here

    alignas(64) Doorbell* bell = nullptr; ///< where it sleeps, if that is mapped here
    Epoch* epoch = nullptr;               ///< the open lock or access epoch that reaches it
    std::uint64_t accesses = 0;           ///< access epochs activated towards it (P1: a)
    std::uint64_t exposures = 0;          ///< exposure epochs activated towards it (P1: e)
    std::uint64_t done = 0;               ///< accesses to it that are finished and announced
    std::uint64_t lock_requests = 0;      ///< places asked for in its queue, where it is elsewhere
    std::uint64_t lock_grants = 0;        ///< those of them that were admitted
    std::uint64_t admitted = 0;           ///< its places in the queue here that were admitted
    std::uint32_t places[2] = {};         ///< of those the ones that it has not left, by type
    std::uint32_t placing = 0;   ///< long messages from it whose data are being written here
    std::uint32_t in_flight = 0; ///< pieces of operations sent to it and not answered
    fabric::RemoteMemory* remote = nullptr; ///< what the fabric can do with its memory
    KeyState key = KeyState::unknown;       ///< to it
    int next_lost = 0;                      ///< the next member to give up, by rank + 1
    Fifo<Flight> launching{}; ///< operations that are not sent whole, in order of issue

    // Pieces without answers of their own (docs/design/wire.md), counted. Numbers wrap around.
    Fifo<Flight> counted{};             ///< operations sent whole that wait for that count
    std::uint32_t pieces_sent = 0;      ///< to it
    std::uint32_t pieces_asked = 0;     ///< of those it will tell, without being asked again
    std::uint32_t pieces_performed = 0; ///< of those it has told
    std::uint32_t pieces_taken = 0;     ///< from it, and performed here
    int next_unasked = 0;               ///< the next member to ask, by rank + 1
    int next_owed = 0;                  ///< the next member to tell, by rank + 1
    bool in_unasked = false;            ///< it is in that list
    bool in_owed = false;
    bool heard = false; ///< it has sent something

    // Long puts, and words that must not count before them.
    std::uint32_t longs_sent = 0;         ///< to it, so far
    std::uint32_t longs_performed = 0;    ///< of those it has, all up to that one
    Series longs_taken{};                 ///< from it
    std::uint32_t behind = 0;             ///< its words wait for that one
    std::uint32_t leaving[2] = {};        ///< places in the queue here that it leaves then, by type
    std::uint32_t accesses_announced = 0; ///< so many accesses count as done then

    /// Dynamic window: accumulates that are on their way to memory there, by messages, while others
    /// could be performed at once.
    std::uint32_t combining = 0;

    /// Of rows that were combined by atomic instructions since they last went by plain ones.
    std::uint32_t row_bytes = 0;

    /// Dynamic window, in place of `reach`: what the direct path used last, while operations may
    /// reach what is attached and mapped, else none.
    LatestRegion latest{};

    [[nodiscard]] std::uint32_t& places_of(LockType type) noexcept
    {
        return places[static_cast<int>(type)];
    }
};

} // namespace sidelight::rma
