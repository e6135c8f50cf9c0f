// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace sidelight::rma {

/// What messages there are; a row of docs/design/wire-messages.md for each. Bodies: wire.hpp.
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
    region_request,          ///< RegionRequestBody, payload: a key; answer with region_key
    region_key,              ///< RegionKeyBody, payload: opens that region; none: not now
    put_scattered,           ///< PutScatteredBody, payload: list of blocks, data: store
    get_scattered,           ///< GetScatteredBody, payload: list of blocks: answer with reply
    accumulate_scattered,    ///< AccumulateScatteredBody, payload: list of blocks, data: combine
    farewell,                ///< to a process, window 0: answer; nothing follows
    farewell_answer,         ///< to a process, window 0: all that it has sent is here
    count_,
};
inline constexpr std::size_t message_kinds = static_cast<std::size_t>(MessageKind::count_);

} // namespace sidelight::rma
