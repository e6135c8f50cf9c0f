// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/dispatch.hpp"

#include <array>
#include <new>
#include <utility>

#include "base/log.hpp"
#include "rma/notice_rules.hpp"

namespace sidelight::rma {

namespace {

using Owners = Dispatch::Owners;
using Payload = std::span<const std::byte>;

/// Whom a kind of message may come from: a notice that somebody on this node writes by itself is
/// not believed.
enum class From : std::uint8_t { anybody, elsewhere };

struct MessageRow {
    std::size_t body = 0; ///< bytes
    From from = From::anybody;
    void (*serve)(const Owners& to, Channel& sender, const Message& message) noexcept = nullptr;
};

template <class Body>
Payload payload_of(const Message& message) noexcept
{
    return message.rest.subspan(body_bytes<Body>);
}

template <class Body>
constexpr MessageRow row(void (*serve)(const Owners&, Channel&, const Message&) noexcept,
                         From from = From::anybody) noexcept
{
    return {.body = body_bytes<Body>, .from = from, .serve = serve};
}

/// Of an operation whose message has a payload.
template <class Body>
using ServeTarget = void (TargetSide::*)(Channel&, const Body&, Payload) noexcept;

template <class Body, ServeTarget<Body> serve>
void serve_target(const Owners& to, Channel& sender, const Message& message) noexcept
{
    (to.target.*serve)(sender, message.body<Body>(), payload_of<Body>(message));
}
void serve_get(const Owners& to, Channel& sender, const Message& message) noexcept
{
    to.target.serve_get(sender, message.body<GetBody>());
}
void take_reply(const Owners& to, Channel& sender, const Message& message) noexcept
{
    to.acknowledgements.take_reply(sender, message.body<ReplyBody>(),
                                   payload_of<ReplyBody>(message));
}
void take_placed(const Owners& to, Channel& sender, const Message& message) noexcept
{
    to.acknowledgements.take_placed(sender, message.body<PlacedBody>());
}
void take_refused(const Owners& to, Channel& sender, const Message& message) noexcept
{
    to.acknowledgements.take_refused(sender, message.body<RefusedBody>());
}
void take_acknowledgement(const Owners& to, Channel& sender, const Message& message) noexcept
{
    to.acknowledgements.take_acknowledgement(sender, message.body<AcknowledgementBody>());
}
void owe_acknowledgement(const Owners& to, Channel& sender, const Message& /*message*/) noexcept
{
    to.credit.owe(sender);
}
void serve_grant(const Owners& to, Channel& sender, const Message& message) noexcept
{
    to.notices.serve_grant(sender, message.body<NoticeBody>());
}
void serve_done(const Owners& to, Channel& sender, const Message& message) noexcept
{
    to.notices.serve_done(sender, message.body<DoneBody>());
}
void serve_lock(const Owners& to, Channel& sender, const Message& message) noexcept
{
    to.locks.serve_lock(sender, message.body<LockBody>());
}
void take_lock_grant(const Owners& to, Channel& sender, const Message& message) noexcept
{
    to.locks.take_grant(sender, message.body<NoticeBody>());
}
void serve_unlock(const Owners& to, Channel& sender, const Message& message) noexcept
{
    to.notices.serve_unlock(sender, message.body<UnlockBody>());
}
void take_barrier(const Owners& to, Channel& sender, const Message& message) noexcept
{
    to.barrier.receive(sender, message.body<BarrierBody>());
}
void take_loss(const Owners& to, Channel& /*sender*/, const Message& message) noexcept
{
    const std::int64_t rank = message.body<LostBody>().rank;
    if (rank >= 0 && rank < std::int64_t{to.contacts.size()}) {
        to.contacts.lose(static_cast<int>(rank));
    }
}
void serve_key(const Owners& to, Channel& sender, const Message& /*message*/) noexcept
{
    to.native.serve_key(sender);
}
void take_key(const Owners& to, Channel& sender, const Message& message) noexcept
{
    to.native.take_key(sender, to.contacts.target(sender.rank), message.rest);
}
void serve_region(const Owners& to, Channel& sender, const Message& message) noexcept
{
    to.native.exposed_regions().serve(sender, message.body<RegionRequestBody>(),
                                      payload_of<RegionRequestBody>(message));
}
void take_region(const Owners& to, Channel& sender, const Message& message) noexcept
{
    to.native.open_regions().take(sender, message.body<RegionKeyBody>(),
                                  payload_of<RegionKeyBody>(message));
}
void serve_notification(const Owners& to, Channel& sender, const Message& message) noexcept
{
    const auto body = message.body<NotifyBody>();
    to.target.performed(sender, body.operation, body.acknowledge != 0,
                        to.counters.serve(sender, body));
}
void serve_counters(const Owners& to, Channel& sender, const Message& message) noexcept
{
    to.notifications.serve_counters(sender, message.body<CountersBody>());
}

void serve_active(const Owners& to, Channel& sender, const Message& message) noexcept
{
    to.active.target.serve_piece(sender, message.body<ActiveBody>(),
                                 payload_of<ActiveBody>(message));
}
void serve_active_input(const Owners& to, Channel& sender, const Message& message) noexcept
{
    to.active.target.serve_input(sender, message.body<ActiveDataBody>(),
                                 payload_of<ActiveDataBody>(message));
}
void take_active_output(const Owners& to, Channel& sender, const Message& message) noexcept
{
    to.active.origin.take_output(sender, message.body<ActiveDataBody>(),
                                 payload_of<ActiveDataBody>(message));
}
/// Others may have waited for the end of it, and the target may have to hear of that.
void take_active_done(const Owners& to, Channel& sender, const Message& message) noexcept
{
    const auto body = message.body<ActiveDoneBody>();
    to.active.origin.take_done(sender, body, payload_of<ActiveDoneBody>(message));
    Flight* flight = to.channels.carrier().flights().find(body.operation, sender);
    if (flight != nullptr && flight->op->message != nullptr) {
        to.origin.notify_behind(*flight);
    }
    to.origin.launch_more(sender);
}
void serve_active_ask(const Owners& to, Channel& sender, const Message& /*message*/) noexcept
{
    to.active.target.serve_ask(sender);
}
void take_active_room(const Owners& to, Channel& sender, const Message& message) noexcept
{
    to.active.origin.take_room(sender, message.body<ActiveRoomBody>());
}
void serve_active_reserve(const Owners& to, Channel& sender, const Message& message) noexcept
{
    to.active.target.serve_reserve(sender, message.body<ActiveReservationBody>());
}
void take_active_reserved(const Owners& to, Channel& sender, const Message& message) noexcept
{
    to.active.origin.take_reservation(sender, message.body<ActiveReservationBody>());
    to.origin.launch_more(sender);
}

/// Whether a message keeps its place among the operations of its sender: these themselves, what
/// asks how far they are, and what says that an epoch of theirs is over. Active messages do not:
/// they leave when all that they follow is complete, and no credit limits their bytes.
bool keeps_place(MessageKind kind) noexcept
{
    switch (kind) {
    case MessageKind::put:
    case MessageKind::get:
    case MessageKind::accumulate:
    case MessageKind::put_scattered:
    case MessageKind::get_scattered:
    case MessageKind::accumulate_scattered:
    case MessageKind::compare_and_swap:
    case MessageKind::order:
    case MessageKind::notify:
    case MessageKind::acknowledgement_request:
    case MessageKind::done:
    case MessageKind::unlock:
        return true;
    default:
        return false;
    }
}

/// Without memory to hold what comes, the sender is lost.
void give_up_order(const Owners& to, const Channel& sender) noexcept
{
    log(LogLevel::error, "no memory for messages of rank %d that must wait: it is lost",
        sender.rank);
    to.channels.turn_away(sender.peer);
    to.contacts.lose(sender.rank);
}
void take_order(const Owners& to, Channel& sender, const Message& message) noexcept
{
    const std::uint32_t until = message.body<OrderBody>().zero_copies;
    if (rules::notice_counts(until, sender.zero_copies_taken.whole())) {
        return;
    }
    sender.held.reset(new (std::nothrow) HeldMessages(until));
    if (sender.held == nullptr) {
        give_up_order(to, sender);
    }
}

/// In the order of MessageKind. Those to a process, at the end, are none of a window's.
constexpr std::array<MessageRow, message_kinds> rows{{
    row<PutBody>(serve_target<PutBody, &TargetSide::serve_put>),
    row<GetBody>(serve_get),
    row<AccumulateBody>(serve_target<AccumulateBody, &TargetSide::serve_accumulate>),
    row<CompareAndSwapBody>(serve_target<CompareAndSwapBody, &TargetSide::serve_compare_and_swap>),
    row<ReplyBody>(take_reply),
    row<PlacedBody>(take_placed),
    row<RefusedBody>(take_refused),
    row<AcknowledgementBody>(take_acknowledgement),
    row<NoBody>(owe_acknowledgement),
    row<NoticeBody>(serve_grant, From::elsewhere),
    row<DoneBody>(serve_done, From::elsewhere),
    row<LockBody>(serve_lock, From::elsewhere),
    row<NoticeBody>(take_lock_grant, From::elsewhere),
    row<UnlockBody>(serve_unlock, From::elsewhere),
    row<BarrierBody>(take_barrier),
    {}, // probe: that it has come is all
    row<LostBody>(take_loss),
    row<NoBody>(serve_key),
    row<NoBody>(take_key),
    row<OrderBody>(take_order),
    row<NotifyBody>(serve_notification),
    row<CountersBody>(serve_counters),
    row<ActiveBody>(serve_active),
    row<ActiveDataBody>(serve_active_input),
    row<ActiveDataBody>(take_active_output),
    row<ActiveDoneBody>(take_active_done),
    row<NoBody>(serve_active_ask),
    row<ActiveRoomBody>(take_active_room),
    row<ActiveReservationBody>(serve_active_reserve),
    row<ActiveReservationBody>(take_active_reserved),
    row<RegionRequestBody>(serve_region, From::elsewhere),
    row<RegionKeyBody>(take_region, From::elsewhere),
    row<PutScatteredBody>(serve_target<PutScatteredBody, &TargetSide::serve_put>),
    row<GetScatteredBody>(serve_target<GetScatteredBody, &TargetSide::serve_get>),
    row<AccumulateScatteredBody>(
        serve_target<AccumulateScatteredBody, &TargetSide::serve_accumulate>),
}};

/// The row of a message that is long enough for its kind; null: it is none.
const MessageRow* row_of(const Message& message) noexcept
{
    const auto kind = static_cast<std::size_t>(message.header.kind);
    const bool known = kind < message_kinds && rows[kind].serve != nullptr;
    return known && message.rest.size() >= rows[kind].body ? &rows[kind] : nullptr;
}

} // namespace

/// The channel to the sender, if that is the member that the message says it is. Without memory for
/// it each is lost to the other, and the sender hears that once.
Channel* Dispatch::sender(int peer, const MessageHeader& header) noexcept
{
    const auto origin = static_cast<int>(header.origin);
    const bool is_rank = to_.contacts.is_rank(origin);
    if (is_rank && to_.contacts.meet(origin) != Status::ok) {
        if (!to_.contacts.target(origin).lost) {
            log(LogLevel::error, "out of memory for a message of rank %d: it is lost", origin);
            to_.channels.turn_away(peer);
            to_.contacts.lose(origin);
        }
        return nullptr;
    }
    if (is_rank && to_.contacts.target(origin).peer == peer) {
        Channel& channel = to_.contacts.channel(origin);
        return channel.rank == origin ? &channel : nullptr;
    }
    log(LogLevel::error, "a message of peer %d is dropped: rank %u of its window is another", peer,
        header.origin);
    return nullptr;
}

void Dispatch::receive(int peer, const Message& message) noexcept
{
    Channel* from = sender(peer, message.header);
    if (from == nullptr) {
        return;
    }
    to_.channels.note_heard(*from);
    if (from->held != nullptr && keeps_place(message.header.kind)) [[unlikely]] {
        hold(*from, message);
        return;
    }
    serve(*from, message);
}

void Dispatch::serve(Channel& from, const Message& message) noexcept
{
    const MessageRow* row = row_of(message);
    if (row == nullptr ||
        (row->from == From::elsewhere && to_.contacts.peer(from.rank).control != nullptr)) {
        return;
    }
    row->serve(to_, from, message);
}

void Dispatch::hold(Channel& from, const Message& message) noexcept
{
    if (!from.held->keep(message)) {
        give_up_order(to_, from);
    }
}

std::byte* Dispatch::place(int peer, const Message& message, std::size_t bytes) noexcept
{
    Channel* from = sender(peer, message.header);
    if (from == nullptr || row_of(message) == nullptr) {
        return nullptr;
    }
    std::byte* memory = nullptr;
    if (message.header.kind == MessageKind::reply) {
        memory = to_.acknowledgements.place_reply(*from, message.body<ReplyBody>(), bytes);
    } else if (message.header.kind == MessageKind::put) {
        memory = to_.target.place_put(*from, message.body<PutBody>(), bytes);
    }
    if (memory != nullptr) {
        to_.channels.begin_placing(*from);
    }
    return memory;
}

void Dispatch::placed(const Message& message, std::size_t bytes) noexcept
{
    Channel* sender = to_.channels.find(static_cast<int>(message.header.origin));
    if (sender == nullptr || sender->placing == 0) {
        return; // of a process that the fabric has lost
    }
    Channel& from = *sender;
    to_.channels.end_placing(from);
    if (message.header.kind == MessageKind::reply) {
        to_.acknowledgements.reply_placed(from, message.body<ReplyBody>(), bytes);
    } else {
        to_.target.put_placed(from, message.body<PutBody>());
    }
}

void Dispatch::unreachable(int rank) noexcept { to_.contacts.lose(rank); }

/// Messages that were held may say themselves that those behind them wait for more.
void Dispatch::zero_copy_taken(Channel& channel) noexcept
{
    to_.notices.let_count(channel);
    to_.counters.let_count(channel);
    if (channel.held == nullptr ||
        !rules::notice_counts(channel.held->until(), channel.zero_copies_taken.whole())) {
        return;
    }
    const std::unique_ptr<HeldMessages> held = std::move(channel.held);
    held->for_each([&](const Message& message) noexcept {
        channel.held != nullptr ? hold(channel, message) : serve(channel, message);
    });
}

} // namespace sidelight::rma
