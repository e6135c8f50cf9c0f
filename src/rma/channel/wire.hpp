// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "fabric/fabric.hpp"

/// The messages between the engines of two members of a window. Each is a header, the body that its
/// kind has, and a payload. Protocol: docs/design/wire.md.
namespace sidelight::rma {

enum class MessageKind : std::uint8_t {
    put,                     ///< PutBody, payload: store
    get,                     ///< GetBody: answer with reply
    accumulate,              ///< AccumulateBody, payload: combine
    compare_and_swap,        ///< CompareAndSwapBody, payload (compare, origin): answer with reply
    reply,                   ///< ReplyBody, payload: old values, or what a get has asked for
    placed,                  ///< PlacedBody: a zero-copy put is complete at the target
    refused,                 ///< RefusedBody: a fragment was not performed, and why
    acknowledgement,         ///< AcknowledgementBody: so many fragments are complete
    acknowledgement_request, ///< answer with acknowledgement
    grant,                   ///< NoticeBody: exposures opened for the receiver
    done,                    ///< DoneBody: accesses to the receiver that are finished
    lock,                    ///< LockBody: take a place for me, answer with lock_grant
    lock_grant,              ///< NoticeBody: so many of the receiver's places are admitted
    unlock,                  ///< UnlockBody: leave my place
    barrier,                 ///< BarrierBody
    probe,                   ///< the carrier shall tell if the receiver is lost
    lost,                    ///< LostBody: that member cannot be reached any more
    key_request,             ///< answer with key
    key,                     ///< payload: opens the sender's memory; none: it stays closed
    order,                   ///< OrderBody: what follows waits for zero-copy puts before it
    notify,                  ///< NotifyBody: raise a counter
    counters,                ///< CountersBody: how many counters the sender has, or a question
    active,                  ///< ActiveBody, payload: run a handler
    active_input,            ///< ActiveDataBody, payload: more of the latest of those
    active_output,           ///< ActiveDataBody, payload: what a handler has made
    active_done,             ///< ActiveDoneBody, payload: it has been run
    active_ask,              ///< answer with active_room
    active_room,             ///< ActiveRoomBody
    active_reserve,          ///< ActiveReservationBody: answer with active_reserved
    active_reserved,         ///< ActiveReservationBody
    farewell,                ///< to a process, window 0: answer; nothing follows
    farewell_answer,         ///< to a process, window 0: all that it has sent is here
    count_,
};
inline constexpr std::size_t message_kinds = static_cast<std::size_t>(MessageKind::count_);

/// The first bytes of every message. Same layout everywhere: the hosts of a job are alike. The
/// sizes of header and bodies keep a payload aligned for every basic type.
struct alignas(16) MessageHeader {
    MessageKind kind = MessageKind::put;
    std::uint32_t origin = 0; ///< rank of the sender in the window
    std::uint64_t window = 0; ///< id
};

// Bodies. `operation` is the sender's name for an operation (Flights::name), returned as it came.
// `address` is an offset in the target's memory; in a dynamic window an address there. `placed`:
// all zero-copy puts up to that number are in the sender's memory. Numbers of 32 bits wrap around;
// what answers a question is 0 for no.

/// Answered by acknowledgement; a zero-copy one has a number and is answered by placed.
struct alignas(16) PutBody {
    std::uint64_t address = 0;
    std::uint64_t operation = 0;
    std::uint32_t zero_copy = 0;  ///< number of this zero-copy put; 0: it is none
    std::uint8_t acknowledge = 0; ///< tell how many fragments are complete
};
struct alignas(16) GetBody {
    std::uint64_t address = 0;
    std::uint64_t operation = 0;
    std::uint64_t bytes = 0;
    std::uint64_t position = 0; ///< byte of the operation's data stream where this fragment starts
};
/// Answered by reply where it fetches, else by acknowledgement.
struct alignas(16) AccumulateBody {
    std::uint64_t address = 0;
    std::uint64_t operation = 0;
    std::uint64_t bytes = 0; ///< data at the target
    std::uint64_t position = 0;
    std::uint8_t reduce = 0; ///< ReduceOp
    std::uint8_t basic = 0;  ///< datatype::Basic
    std::uint8_t fetch = 0;  ///< old values wanted
    std::uint8_t acknowledge = 0;
};
struct alignas(16) CompareAndSwapBody {
    std::uint64_t address = 0;
    std::uint64_t operation = 0;
    std::uint8_t basic = 0;
};
struct alignas(16) ReplyBody {
    std::uint64_t operation = 0;
    std::uint64_t position = 0;
    std::uint32_t placed = 0;
};
struct alignas(16) PlacedBody {
    std::uint64_t operation = 0;
    std::uint32_t placed = 0;
};
struct alignas(16) RefusedBody {
    std::uint64_t operation = 0;
    std::uint32_t placed = 0;
    std::uint8_t status = 0;
    std::uint8_t acknowledged = 0; ///< the fragment is one of those that acknowledgements count
};
struct alignas(16) AcknowledgementBody {
    std::uint32_t fragments = 0;
};
struct alignas(16) NoticeBody {
    std::uint64_t number = 0;
};
struct alignas(16) DoneBody {
    std::uint64_t number = 0;
    std::uint32_t zero_copies = 0; ///< it counts when all zero-copy puts up to that one are placed
};
struct alignas(16) LockBody {
    std::uint8_t type = 0; ///< LockType
};
struct alignas(16) UnlockBody {
    std::uint32_t zero_copies = 0; ///< as in DoneBody
    std::uint8_t type = 0;         ///< LockType
    std::uint8_t acknowledge = 0;
};
struct alignas(16) BarrierBody {
    std::uint64_t round = 0;
    std::uint64_t number = 0;
};
struct alignas(16) LostBody {
    std::int64_t rank = 0;
};
struct alignas(16) OrderBody {
    std::uint32_t zero_copies = 0; ///< as in DoneBody, of all that comes behind it
};
/// Behind the data of its operation. Counted as one of its fragments.
struct alignas(16) NotifyBody {
    std::uint64_t operation = 0;
    std::uint32_t index = 0;       ///< of the counter
    std::uint32_t zero_copies = 0; ///< the operation is made of so many zero-copy puts
    std::uint32_t last_copy = 0;   ///< number of the last of them
    std::uint8_t acknowledge = 0;
};
struct alignas(16) CountersBody {
    std::uint32_t number = 0;
    std::uint8_t asks = 0; ///< answer with the same
};
struct alignas(16) NoBody {};

/// Bytes of the body as it travels.
template <class Body>
inline constexpr std::size_t body_bytes = sizeof(Body);
template <>
inline constexpr std::size_t body_bytes<NoBody> = 0;

/// Header and body of one message, as they leave.
template <class Body>
struct Framed {
    MessageHeader header;
    Body body;

    [[nodiscard]] std::span<const std::byte> bytes() const noexcept
    {
        return std::as_bytes(std::span(this, 1)).first(sizeof header + body_bytes<Body>);
    }
};

/// A message that has come: all of it but the header.
struct Message {
    MessageHeader header;
    std::span<const std::byte> rest; ///< body and payload

    /// The body, for whoever has made sure that it is there.
    template <class Body>
    [[nodiscard]] Body body() const noexcept
    {
        Body copy;
        std::memcpy(&copy, rest.data(), sizeof copy);
        return copy;
    }
};

/// Data bytes in one message that is not zero-copy, at most. A multiple of the size of every basic
/// type without holes.
inline constexpr std::size_t fragment_bytes = 7936;
static_assert(sizeof(Framed<AccumulateBody>) + fragment_bytes <= fabric::max_message);

/// A contiguous fragment of a put or get of at least so many bytes goes without a copy.
inline constexpr std::size_t zero_copy_bytes = 8192;

} // namespace sidelight::rma
