// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// The messages of the emulated route, and of members that share no memory. Protocol:
/// docs/design/wire.md.
namespace sidelight::rma {

enum class MessageKind : std::uint8_t {
    put,              ///< address, payload: store, then answer with done_op
    get,              ///< address, bytes: answer with reply
    accumulate,       ///< address, reduce, basic, payload: combine, answer with reply or done_op
    compare_and_swap, ///< address, basic, payload (compare, origin): answer with reply
    reply,            ///< cookie, position, payload: old values for a get or a fetching operation
    done_op,          ///< cookie: one piece of an operation is complete at the target
    grant,            ///< number: exposures opened for the receiver
    done,             ///< number: accesses to the receiver that are finished
    lock,             ///< lock type, cookie: take a place for me, answer with lock_grant
    lock_grant,       ///< cookie, position: the place of that part is admitted
    unlock,           ///< lock type: leave my place
    barrier,          ///< round, number
    count_,
};

/// The first bytes of every message. Same layout everywhere: the hosts of a job are alike.
struct MessageHeader {
    MessageKind kind = MessageKind::put;
    std::uint8_t reduce = 0;    ///< ReduceOp
    std::uint8_t basic = 0;     ///< datatype::Basic
    std::uint8_t flag = 0;      ///< accumulate: old values wanted; lock, unlock: LockType
    std::uint32_t window = 0;   ///< id
    std::uint32_t origin = 0;   ///< rank of the sender in the window
    std::uint32_t round = 0;    ///< barrier
    std::uint64_t address = 0;  ///< offset in the target's memory
    std::uint64_t bytes = 0;    ///< get: how much
    std::uint64_t cookie = 0;   ///< the sender's name for what this belongs to; returned as it came
    std::uint64_t position = 0; ///< byte of the operation's data stream where this piece starts
    std::uint64_t number = 0;   ///< grant, done, barrier
};

/// Data bytes in one message, at most. A multiple of the size of every basic type.
inline constexpr std::size_t piece_bytes = 4096;

struct Message {
    MessageHeader header;
    std::span<const std::byte> payload;
};

} // namespace sidelight::rma
