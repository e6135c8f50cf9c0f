// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/list.hpp"
#include "rma/active/message.hpp"
#include "rma/channel/active_wire.hpp"

namespace sidelight::rma {

struct Channel;

/// Some segments that have come, and are run by one call of the handler.
struct ActivePiece {
    ActiveBody body{};
    std::byte* memory = nullptr; ///< its room
    std::uint64_t received = 0;  ///< bytes of the input
    ActivePiece* next = nullptr;

    [[nodiscard]] bool complete() const noexcept { return received == body.input_bytes; }
};

/// An active message at its target, from its first piece to its last.
struct ActiveIncoming {
    Channel* from = nullptr;
    std::uint64_t operation = 0;
    ActiveRange range{};
    std::byte* persistent = nullptr;
    std::uint64_t segments = 0;
    std::uint64_t come = 0; ///< segments
    std::uint64_t run = 0;
    std::uint32_t handler = 0;
    bool concurrent = false;
    ActiveOrder order{};
    bool running = false;        ///< a handler is inside
    Status failure = Status::ok; ///< of those of its pieces that are here
    bool admitted = false;       ///< it has its part of the exclusion
    unsigned refused = 0;
    ActiveRun left{};                ///< while a piece of it is left to whoever has the engine next
    Fifo<ActivePiece> pieces{};      ///< in order; the first may be the one that runs
    ActivePiece* latest = nullptr;   ///< where more input goes
    Links<ActiveIncoming> in_turn{}; ///< those of all origins, in the order in which they began
    ActiveIncoming* next = nullptr;

    /// Nothing of it is run any more.
    [[nodiscard]] bool failed() const noexcept { return failure != Status::ok; }
};

/// Room in the attached buffer that an origin has, or waits for.
struct ActiveReservation {
    Channel* from = nullptr;
    std::uint64_t operation = 0;
    std::uint64_t place = 0;
    std::uint64_t bytes = 0; ///< 0: it waits
    std::uint64_t least = 0;
    std::uint64_t most = 0;
    Links<ActiveReservation> in_list{};
    ActiveReservation* next = nullptr;
};

/// A piece that was sent and is not answered.
struct ActivePieceSent {
    std::uint64_t operation = 0;
    std::uint64_t segment = 0;
    std::uint64_t place = 0;
    std::uint32_t number = 0; ///< of segments; 0: not in use
    bool has_place = false;
    bool reserved = false; ///< the place is in the reservation
};

/// What active messages need of a channel.
struct ActiveChannel {
    // --- As origin -------------------------------------------------------------------------------
    List<ActiveMessage, &ActiveMessage::in_list> leaving; ///< not sent whole, in order of issue
    ActiveMessage* begun = nullptr;                       ///< the one of them that has begun
    bool asked = false;                                   ///< what room there is
    bool known = false;
    std::uint64_t attached = 0;      ///< bytes of the attached buffer, when that was answered
    Ring<most_active_pieces> room{}; ///< of this process's own there
    std::array<ActivePieceSent, most_active_pieces> sent{};
    std::uint32_t unanswered = 0; ///< pieces

    // --- As target -------------------------------------------------------------------------------
    std::unique_ptr<std::byte[]> memory; ///< the room of that origin, made at first use
    std::uint32_t here = 0;              ///< pieces
    std::uint32_t messages = 0;          ///< that have begun
    ActiveIncoming* latest = nullptr;    ///< the one that has begun last
};

} // namespace sidelight::rma
