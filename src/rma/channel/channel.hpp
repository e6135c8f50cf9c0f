// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "base/list.hpp"
#include "rma/channel/active_channel.hpp"
#include "rma/channel/flight.hpp"
#include "rma/channel/held_messages.hpp"
#include "rma/channel/series.hpp"

namespace sidelight::rma {

/// The operations sent to one member since nothing was in flight that anybody waits for.
struct SentRow {
    std::uint32_t operations = 0;
    bool behind_rows = false; ///< there were several, the last time
    bool is_held = false;     ///< none of them was let leave at once
};

/// How messages go between this process and one member of a window, and how far both sides have got
/// with them. Made when something is sent or has come for the first time. Guarded by the engine.
/// Numbers wrap around.
struct Channel {
    int rank = 0;        ///< of the member
    int peer = 0;        ///< its number in the fabric
    bool lost = false;   ///< it cannot be reached any more
    bool probed = false; ///< it was sent something
    bool heard = false;  ///< it has sent something

    // --- As origin -------------------------------------------------------------------------------
    bool in_unrequested = false; ///< in the list of those to be asked for an acknowledgement
    Channel* next_unrequested = nullptr;
    Fifo<Flight> leaving{};        ///< operations that are not sent whole, in order of issue
    Fifo<Flight> unacknowledged{}; ///< sent whole, waiting for the count below
    std::uint32_t in_flight = 0;   ///< fragments sent and not answered
    std::uint32_t unawaited = 0;   ///< at most so many of them notify, and nobody has asked
    bool large_in_flight = false;  ///< one that is not small, since nothing was in flight
    SentRow row{};
    std::uint32_t fragments_sent = 0;   ///< of those without answers of their own
    std::uint32_t requested = 0;        ///< of those it will acknowledge without being asked again
    std::uint32_t acknowledged = 0;     ///< of those it has acknowledged
    std::uint32_t zero_copies_sent = 0; ///< zero-copy puts so far
    std::uint32_t zero_copies_placed = 0; ///< of those it has, all up to that one
    std::uint32_t order_sent = 0; ///< so many of those it was told to wait for with what follows
    /// Operations whose order counts, and are not complete at the target: accumulates that travel,
    /// and all ordered ones.
    std::uint32_t in_order = 0;
    std::array<std::uint32_t, roads_under_way> under_way{}; ///< the same, by Road

    // --- As target -------------------------------------------------------------------------------
    bool in_owed = false; ///< in the list of those that are owed an acknowledgement
    Channel* next_owed = nullptr;
    std::uint32_t fragments_taken = 0; ///< without answers of their own, and performed here
    /// The operation whose fragment was refused last, 0: none. It raises nothing; neither does one
    /// that has its name again, after 2^32 - 1 uses of its flight.
    std::uint64_t refused = 0;
    std::uint32_t placing = 0;            ///< zero-copy messages whose data are being written here
    Series zero_copies_taken{};           ///< zero-copy puts that are here
    std::unique_ptr<HeldMessages> held{}; ///< what has come that must wait for some of those

    std::unique_ptr<ActiveChannel> active{}; ///< once there was an active message, either way

    Channel* next = nullptr; ///< in its pool
};

} // namespace sidelight::rma
