// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/channel/wire.hpp"

/// The bodies of the messages of active messages. Protocol: docs/design/active-messages.md.
namespace sidelight::rma {

/// Some segments of an active message, which the handler gets at once. The payload is the beginning
/// of their input's image; more follows in ActiveDataBody.
struct alignas(16) ActiveBody {
    std::uint64_t operation = 0;
    std::uint64_t address = 0; ///< of the target memory
    std::int64_t first = 0;    ///< bytes of it that the handler may use, from there
    std::int64_t last = 0;
    std::uint64_t hole_first = 0; ///< what it does not use of that, if it uses two pieces
    std::uint64_t hole_last = 0;  ///< as hole_first: there is none
    std::uint64_t region = 0;     ///< RegionName that they lie in; none: the target's memory
    std::uint64_t persistent_count = 0;
    std::uint64_t input_bytes = 0; ///< of the image
    std::uint64_t output_bytes = 0;
    std::int64_t input_start = 0; ///< what the handler gets, in the image
    std::int64_t output_start = 0;
    std::uint64_t output_at = 0;   ///< behind the place of the input
    std::uint64_t input_count = 0; ///< elements of one segment
    std::uint64_t output_count = 0;
    std::uint64_t place = 0;    ///< in the buffer
    std::uint64_t segment = 0;  ///< the first of them
    std::uint64_t segments = 0; ///< of the whole message
    std::uint32_t number = 0;   ///< of segments; 0: the rest of the message does not come
    std::uint32_t handler = 0;
    std::int32_t input_type = 0;
    std::int32_t output_type = 0;
    std::int32_t persistent_type = 0;
    std::uint8_t reserved = 0;   ///< the place is in the attached buffer
    std::uint8_t concurrent = 0; ///< asserted
    std::uint8_t order = 0;      ///< bits: same operation, different ones
    Unused<9> unused{};
};
/// More of the input of the latest piece of that operation, or of the output of one.
struct alignas(16) ActiveDataBody {
    std::uint64_t operation = 0;
    std::uint64_t segment = 0;  ///< the first of the piece
    std::uint64_t position = 0; ///< in the image
    Unused<8> unused{};
};
/// A piece has been run, or was refused. The payload is the end of the output's image.
struct alignas(16) ActiveDoneBody {
    std::uint64_t operation = 0;
    std::uint64_t segment = 0;
    std::uint64_t position = 0;
    std::uint8_t status = 0; ///< not ok: nothing of the message is run any more
    Unused<7> unused{};
};
/// How much room the sender has for the receiver's messages.
struct alignas(16) ActiveRoomBody {
    std::uint64_t internal = 0; ///< of the receiver's own
    std::uint64_t attached = 0; ///< shared by all
};
/// Asks for room in the attached buffer, or says that it is the operation's until that is over.
struct alignas(16) ActiveReservationBody {
    std::uint64_t operation = 0;
    std::uint64_t place = 0; ///< an answer's
    std::uint64_t least = 0; ///< an answer's: what it has got, 0 for nothing, ever
    std::uint64_t most = 0;
};

/// Bytes of input or output in one message.
inline constexpr std::size_t active_bytes = 7808;
static_assert(sizeof(Framed<ActiveBody>) + active_bytes <= fabric::max_message);

/// Pieces of one origin at one target that were sent and not answered, at most.
inline constexpr std::size_t most_active_pieces = 64;

} // namespace sidelight::rma
