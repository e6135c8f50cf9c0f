// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fabric/fabric.hpp"

/// The messages of the emulated route, and of members that share no memory. Protocol:
/// docs/design/wire.md.
namespace sidelight::rma {

enum class MessageKind : std::uint8_t {
    put,              ///< address, payload: store. Answered by performed; a long one has a number
                      ///< and is answered by done_op
    get,              ///< address, bytes: answer with reply
    accumulate,       ///< address, reduce, basic, payload: combine. Answered by reply or performed
    compare_and_swap, ///< address, basic, payload (compare, origin): answer with reply
    reply,            ///< cookie, position, payload: old values for a get or a fetching operation.
                      ///< Long where a get has asked for more than fits into a message
    done_op,          ///< cookie: a long put is complete at the target
    performed,        ///< number: so many pieces without answers of their own are complete
    ask,              ///< nothing: answer with performed
    refused,          ///< cookie, flag: that piece was not performed, and why. Number: 1 if it has
                      ///< no answer of its own
    grant,            ///< number: exposures opened for the receiver
    done,             ///< number: accesses to the receiver that are finished; behind
    lock,             ///< lock type: take a place for me, answer with lock_grant
    lock_grant,       ///< number: so many of the receiver's places have been admitted
    unlock,           ///< lock type, behind: leave my place
    barrier,          ///< round, number
    farewell,         ///< to a process, window 0: answer with farewell_answer; nothing follows
    farewell_answer,  ///< to a process, window 0: all that it has sent is here
    greeting,         ///< nothing: the carrier shall tell if the receiver is lost
    lost,             ///< number: that rank cannot be reached any more
    key_wanted,       ///< nothing: answer with key
    key,              ///< payload: opens the sender's memory; none: it stays closed
    count_,
};

/// The first bytes of every message. Same layout everywhere: the hosts of a job are alike.
struct MessageHeader {
    MessageKind kind = MessageKind::put;
    std::uint8_t reduce = 0;    ///< ReduceOp
    std::uint8_t basic = 0;     ///< datatype::Basic
    std::uint8_t flag = 0;      ///< accumulate: old values wanted; lock, unlock: LockType; refused:
                                ///< Status
    std::uint32_t origin = 0;   ///< rank of the sender in the window
    std::uint64_t window = 0;   ///< id
    std::uint64_t address = 0;  ///< offset in the target's memory; in a dynamic window an address
    std::uint64_t bytes = 0;    ///< data at the target
    std::uint64_t cookie = 0;   ///< the sender's name for what this belongs to; returned as it came
    std::uint64_t position = 0; ///< byte of the operation's data stream where this piece starts
    std::uint64_t number = 0; ///< grant, done, lock_grant, barrier, lost, performed; a long put's.
                              ///< A short one, accumulate, unlock: 1, performed is wanted
    std::uint64_t round = 0;  ///< barrier. done, unlock: number of the last long put before them.
                              ///< Answers: all long puts up to that one are in memory
};
static_assert(sizeof(MessageHeader) == 64);

/// Data bytes in one message that is not long, at most. A multiple of the size of every basic type
/// without holes.
inline constexpr std::size_t piece_bytes = 7936;
static_assert(sizeof(MessageHeader) + piece_bytes <= fabric::max_message);

/// A contiguous piece of a put or get of at least so many bytes goes as a long message.
inline constexpr std::size_t long_bytes = 8192;

struct Message {
    MessageHeader header;
    std::span<const std::byte> payload;
};

} // namespace sidelight::rma
