// SPDX-License-Identifier: BSD-3-Clause
#include "rma/channel/origin.hpp"

#include <array>
#include <utility>

#include "rma/channel/fragments.hpp"
#include "rma/channel/order.hpp"
#include "rma/notice_rules.hpp"
#include "rma/region/handle_region.hpp"

namespace sidelight::rma {

using datatype::Buffer;
using datatype::Cursor;

namespace {

/// The first operation in flight towards a target, or of an epoch, leaves at once where that is of
/// use. Others leave together: when there are enough of them, when something is answered, or when
/// the program closes or flushes. On a network each time is a system call on both sides.
constexpr std::uint32_t batched = 1024;

/// Where the next fragment goes.
std::uint64_t address_of(const Flight& flight) noexcept
{
    return reinterpret_cast<std::uintptr_t>(flight.target.piece().address);
}

/// What a memory handle names, of an operation by one.
RegionName region_of(const Flight& flight) noexcept
{
    const HandleRegion* region = flight.op->operation.region;
    return region != nullptr ? region->name : no_region;
}

/// But for what has told the target by itself, and may stay unanswered.
bool is_quiet(const Channel& target) noexcept { return target.in_flight <= target.unawaited; }

/// An operation is about to leave, or a part of it.
void note_row(Channel& target, const Flight& flight) noexcept
{
    if (is_quiet(target)) {
        target.row.behind_rows = std::exchange(target.row.operations, 0) > 1;
        target.row.is_held = false;
    }
    target.row.operations += flight.position == 0 ? 1 : 0;
}

/// Whether it leaves at once: with nothing under way that others could wait for, or all of it held
/// back.
bool leaves_at_once(const Channel& target, const Flight& flight) noexcept
{
    const Op& op = *flight.op;
    const bool alone = is_quiet(target) || op.first || target.row.is_held;
    const bool is_asked_for = returned_to(op.operation) != nullptr || has_remote_request(op);
    const bool zero_copy = !flight.copied && is_zero_copy(op.operation, data_bytes(op.operation));
    return alone &&
           rules::leaves_at_once(!op.awaited, target.row.behind_rows, is_asked_for, zero_copy);
}

} // namespace

void Origin::launch(Op& op, Channel& target, std::size_t address) noexcept
{
    if (Flight* flight = take_flight(op, target, address); flight != nullptr) {
        target.leaving.push(flight);
        launch_more(target);
    }
}

/// Ahead of what has come meanwhile, but not between the parts of another one.
void Origin::launch_again(Op& op, Channel& target, std::size_t address) noexcept
{
    if (Flight* flight = take_flight(op, target, address); flight != nullptr) {
        Flight* first = target.leaving.front();
        const bool half_sent = first != nullptr && first->position != 0;
        if (half_sent) {
            target.leaving.pop();
        }
        target.leaving.push_front(flight);
        if (half_sent) {
            target.leaving.push_front(first);
        }
        launch_more(target);
    }
}

/// Null: the operation has ended.
Flight* Origin::take_flight(Op& op, Channel& target, std::size_t address) noexcept
{
    if (keeps_order(op.operation)) {
        join_order(op, target, Road::waiting);
    }
    if (target.lost) {
        life_.end(op, Status::lost);
        return nullptr;
    }
    Flight* flight = channels_.carrier().flights().take(op, target);
    if (flight == nullptr) {
        life_.end(op, Status::no_memory);
        return nullptr;
    }
    const Operation& operation = op.operation;
    const std::size_t bytes = data_bytes(operation);
    flight->copied = is_zero_copy(operation, bytes) &&
                     bytes < channels_.carrier().fabric().zero_copy_from(target.peer);
    if (op.message == nullptr) {
        flight->target =
            Cursor({reinterpret_cast<void*>(address), operation.layout, operation.count});
    }
    if (carries_data(operation) || operation.kind == OperationKind::get) {
        flight->data = Cursor(operation.origin);
    }
    if (const Buffer* to = returned_to(operation); to != nullptr && op.message == nullptr) {
        flight->answers = Cursor(*to);
    }
    flight->owes_notification = notifies(operation);
    return flight;
}

/// Whether what is held back leaves: there is enough of it, or nothing more may be sent.
bool Origin::is_row_full(const Channel& target) const noexcept
{
    return target.in_flight % batched == 0 || !credit_.is_left(target);
}

void Origin::launch_more(Channel& target) noexcept
{
    Carrier& carrier = channels_.carrier();
    bool push = carrier.unpushed();
    carrier.set_unpushed(false);
    while (!target.leaving.empty() && credit_.is_left(target)) {
        Flight& flight = *target.leaving.front();
        if (!may_leave(flight)) {
            push = credit_.request(target) || push; // nobody else may wait for what it waits for
            break;
        }
        if (flight.op->message != nullptr) {
            target.leaving.pop();
            push = push || is_row_full(target);
            credit_.use(target, 0); // for all of its pieces
            active_.launch(flight);
            continue;
        }
        if (flight.op->operation.ordered && needs_order(target, flight.op->road)) {
            send_order(target);
        }
        note_row(target, flight);
        const bool first = leaves_at_once(target, flight) || flight.owes_notification;
        target.row.is_held = !first && (is_quiet(target) || target.row.is_held);
        const bool whole_at_once = flight.op->operation.kind == OperationKind::compare_and_swap;
        send_fragments(flight);
        push = push || first || is_row_full(target);
        if (!whole_at_once && !flight.target.at_end()) {
            break;
        }
        target.leaving.pop();
        sent_whole(flight);
    }
    carrier.set_unpushed(push);
    credit_.note_sent(target);
    credit_.request_if_awaited();
}

/// The last one that was sent whole and is not acknowledged counts as its own what joins it.
bool Origin::join(const Operation& operation, const Epoch& epoch, std::uint32_t peer,
                  Channel& target, std::size_t address) noexcept
{
    Flight* before = target.unacknowledged.back();
    if (target.lost || before == nullptr || !target.leaving.empty() || !credit_.is_left(target) ||
        !is_one_fragment(operation)) {
        return false;
    }
    const Op& op = *before->op;
    const bool alike = op.state == OperationState::local && before->status == Status::ok &&
                       op.operation.kind == operation.kind &&
                       op.operation.thread == operation.thread && op.operation.region == nullptr &&
                       !op.operation.ordered && !has_remote_request(op);
    if (!alike || !rules::may_join(op.epoch == &epoch && op.peer == peer, credit_.is_awaited())) {
        return false;
    }
    Carrier& carrier = channels_.carrier();
    const bool push = carrier.unpushed();
    carrier.set_unpushed(false);
    ++target.row.operations;
    const std::span data(static_cast<const std::byte*>(operation.origin.address),
                         data_bytes(operation));
    credit_.use(target, data.size());
    if (operation.kind == OperationKind::put) {
        send_put(*before, address, data, true);
    } else {
        send_accumulate(*before, operation, address, data.size(), data, true);
    }
    carrier.set_unpushed(push || is_row_full(target));
    credit_.note_sent(target);
    return true;
}

/// What follows is performed when all zero-copy puts that were sent so far are there.
void Origin::send_order(Channel& target) noexcept
{
    target.order_sent = target.zero_copies_sent;
    channels_.send(target, MessageKind::order, OrderBody{.zero_copies = target.zero_copies_sent});
}

/// The flight may be gone on return.
void Origin::sent_whole(Flight& flight) noexcept
{
    const bool brings_back = returned_to(flight.op->operation) != nullptr;
    const bool is_back = flight.replies == 0 && !flight.buffers_in_use(); // of one without data
    if (flight.owes_notification && flight.status == Status::ok &&
        rules::notification_leaves(brings_back, is_back)) {
        send_notification(flight);
    }
    flight.unacknowledged =
        flight.unacknowledged && !Credit::acknowledged(*flight.channel, flight.last_fragment);
    if (flight.unacknowledged) {
        flight.channel->unacknowledged.push(&flight);
    }
    life_.all_sent(flight);
}

void Origin::notify_behind(Flight& flight) noexcept
{
    if (!flight.owes_notification || flight.op->state < OperationState::sent ||
        !rules::notification_leaves(true, flight.replies == 0 && !flight.buffers_in_use())) {
        return;
    }
    send_notification(flight);
    flight.channel->unacknowledged.push(&flight);
    credit_.request_if_awaited();
}

/// It comes to the target behind all that was sent before, but for zero-copy puts. It is counted as
/// a fragment, so its operation is complete when it has come.
void Origin::send_notification(Flight& flight) noexcept
{
    Channel& target = *flight.channel;
    Operation& operation = flight.op->operation;
    flight.owes_notification = false;
    credit_.use(target, 0);
    const std::uint8_t acknowledge = credit_.count(flight, true) ? 1 : 0;
    channels_.send(target, MessageKind::notify,
                   NotifyBody{.operation = Flights::name(flight),
                              .index = static_cast<std::uint32_t>(operation.notification),
                              .zero_copies = flight.zero_copies,
                              .last_copy = target.zero_copies_sent,
                              .acknowledge = acknowledge});
    operation.notification = -1;
}

void Origin::send_fragments(Flight& flight) noexcept
{
    if (flight.op->operation.kind == OperationKind::compare_and_swap) {
        send_compare_and_swap(flight);
        return;
    }
    while (!flight.target.at_end() && credit_.is_left(*flight.channel) && may_send(flight)) {
        send_fragment(flight);
    }
}

void Origin::send_fragment(Flight& flight) noexcept
{
    std::array<std::byte, fragment_bytes> staging;
    const Scattered blocks = next_blocks(flight, std::span(staging).first<scattered_bytes>());
    if (blocks.entries != 0) {
        send_scattered(flight, blocks, staging);
    } else {
        send_one_block(flight, staging);
    }
}

void Origin::send_one_block(Flight& flight, std::span<std::byte, fragment_bytes> staging) noexcept
{
    const Operation& operation = flight.op->operation;
    const std::size_t length = next_fragment(flight);
    const bool last = flight.position + length == data_bytes(operation);
    credit_.use(*flight.channel, length);
    if (is_zero_copy(operation, length)) {
        send_zero_copy_put(flight, length);
    } else if (operation.kind == OperationKind::put) {
        gather(flight.data, staging.data(), length);
        send_put(flight, address_of(flight), {staging.data(), length}, last);
    } else if (operation.kind == OperationKind::get) {
        send_get(flight, length);
    } else {
        const std::size_t carried = carries_data(operation) ? length : 0;
        gather(flight.data, staging.data(), carried);
        send_accumulate(flight, operation, address_of(flight), length, {staging.data(), carried},
                        last);
    }
    flight.position += length;
    flight.target.advance(length);
}

/// The list is at the beginning of the staging.
void Origin::send_scattered(Flight& flight, const Scattered& blocks,
                            std::span<std::byte, fragment_bytes> staging) noexcept
{
    const Operation& operation = flight.op->operation;
    Channel& target = *flight.channel;
    const bool last = flight.position + blocks.bytes == data_bytes(operation);
    const std::size_t listed = blocks.entries * sizeof(ScatteredBlocks);
    const std::size_t carried = carries_data(operation) ? blocks.bytes : 0;
    gather(flight.data, staging.data() + listed, carried);
    const std::span payload(staging.data(), listed + carried);
    credit_.use(target, listed + blocks.bytes);
    if (operation.kind == OperationKind::put) {
        channels_.send(
            target, MessageKind::put_scattered,
            PutScatteredBody{.put = begin_put(flight, 0, last), .entries = blocks.entries},
            payload);
    } else if (operation.kind == OperationKind::get) {
        channels_.send(
            target, MessageKind::get_scattered,
            GetScatteredBody{.get = begin_get(flight, 0, blocks.bytes), .entries = blocks.entries},
            payload);
    } else {
        channels_.send(target, MessageKind::accumulate_scattered,
                       AccumulateScatteredBody{
                           .accumulate = begin_accumulate(flight, operation, blocks.bytes, last),
                           .entries = blocks.entries},
                       payload);
    }
    flight.position += blocks.bytes;
    flight.target.advance(blocks.bytes);
}

PutBody Origin::begin_put(Flight& flight, std::uint64_t address, bool last) noexcept
{
    const std::uint8_t acknowledge = credit_.count(flight, last) ? 1 : 0;
    return {.address = address,
            .operation = Flights::name(flight),
            .acknowledge = acknowledge,
            .region = region_of(flight)};
}

void Origin::send_put(Flight& flight, std::uint64_t address, std::span<const std::byte> data,
                      bool last) noexcept
{
    Framed<PutBody> put{.body = begin_put(flight, address, last)};
    channels_.send(*flight.channel, MessageKind::put, put, data);
}

/// Straight from the origin's memory.
void Origin::send_zero_copy_put(Flight& flight, std::size_t length) noexcept
{
    Channel& target = *flight.channel;
    const std::byte* from = flight.data.piece().address;
    flight.data.advance(length);
    ++flight.replies;
    Pool<ZeroCopySend>& sends = channels_.carrier().zero_copy_sends();
    ZeroCopySend* sent = sends.take();
    if (sent == nullptr) {
        life_.fragment_answered(flight, Status::no_memory);
        return;
    }
    sent->channels = &channels_;
    sent->flight = &flight;
    sent->finished = zero_copy_left;
    sent->origin = this;
    ++flight.reading;
    ++flight.zero_copies;
    const PutBody body{.address = address_of(flight),
                       .operation = Flights::name(flight),
                       .zero_copy = ++target.zero_copies_sent,
                       .region = region_of(flight)};
    const Status status =
        channels_.send_zero_copy(target, MessageKind::put, body, {from, length}, *sent);
    if (status != Status::ok) {
        --target.zero_copies_sent;
        --flight.reading;
        --flight.zero_copies;
        sends.give_back(sent);
        life_.fragment_answered(flight, status);
    }
}

/// One that could not leave tells nothing of itself: its answer comes, or the peer is lost. Others
/// may have waited for it.
void Origin::zero_copy_left(fabric::Completion& self, Status /*status*/) noexcept
{
    auto& sent = static_cast<ZeroCopySend&>(self);
    Flight& flight = *sent.flight;
    Channel& target = *flight.channel;
    Origin& origin = *sent.origin;
    sent.channels->carrier().zero_copy_sends().give_back(&sent);
    --flight.reading;
    origin.life_.settle(flight);
    if (!target.leaving.empty()) {
        origin.launch_more(target);
    }
}

GetBody Origin::begin_get(Flight& flight, std::uint64_t address, std::size_t length) noexcept
{
    ++flight.replies;
    flight.data.advance(length); // where it goes
    return {.address = address,
            .operation = Flights::name(flight),
            .bytes = length,
            .position = flight.position,
            .region = region_of(flight)};
}

void Origin::send_get(Flight& flight, std::size_t length) noexcept
{
    channels_.send(*flight.channel, MessageKind::get,
                   begin_get(flight, address_of(flight), length));
}

AccumulateBody Origin::begin_accumulate(Flight& flight, const Operation& operation,
                                        std::size_t length, bool last) noexcept
{
    const bool fetches = returned_to(operation) != nullptr;
    AccumulateBody body{.operation = Flights::name(flight),
                        .bytes = length,
                        .position = flight.position,
                        .reduce = static_cast<std::uint8_t>(operation.reduce),
                        .basic = static_cast<std::uint8_t>(operation.layout->basic),
                        .region = region_of(flight)};
    if (fetches) {
        ++flight.replies;
        body.fetch = 1;
    } else {
        body.acknowledge = credit_.count(flight, last) ? 1 : 0;
    }
    return body;
}

/// `length` bytes at the target: all of `data`, or none are needed.
void Origin::send_accumulate(Flight& flight, const Operation& operation, std::uint64_t address,
                             std::size_t length, std::span<const std::byte> data,
                             bool last) noexcept
{
    AccumulateBody body = begin_accumulate(flight, operation, length, last);
    body.address = address;
    channels_.send(*flight.channel, MessageKind::accumulate, body, data);
}

/// Compare and origin travel side by side.
void Origin::send_compare_and_swap(Flight& flight) noexcept
{
    const Operation& operation = flight.op->operation;
    std::array<std::byte, 32> both{};
    const std::size_t size = operation.layout->size;
    std::memcpy(both.data(), operation.compare, size);
    std::memcpy(both.data() + size, operation.origin.address, size);
    ++flight.replies;
    credit_.use(*flight.channel, size);
    flight.position = size;
    channels_.send(*flight.channel, MessageKind::compare_and_swap,
                   CompareAndSwapBody{.address = address_of(flight),
                                      .operation = Flights::name(flight),
                                      .basic = static_cast<std::uint8_t>(operation.layout->basic),
                                      .region = region_of(flight)},
                   {both.data(), 2 * size});
}

} // namespace sidelight::rma
