// SPDX-License-Identifier: BSD-3-Clause
#include "rma/channel/active_origin.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "base/bytes.hpp"
#include "datatype/cursor.hpp"
#include "rma/active/ring.hpp"
#include "rma/active/rules.hpp"
#include "rma/region/handle_region.hpp"

namespace sidelight::rma {

namespace {

/// No piece is larger: two of them can be added.
constexpr std::size_t most_room = ~std::size_t{0} >> 2;

bool one_block(const ActiveSide& side, const datatype::Buffer& here) noexcept
{
    return side.layout->contiguous && here.layout->contiguous;
}

/// Where a segment's data lie in memory of the program that has no holes.
std::byte* block_from(const datatype::Buffer& segment, std::uint64_t first) noexcept
{
    return static_cast<std::byte*>(segment.address) + first * segment.bytes();
}

/// The segment is too large for the room that belongs to this origin alone.
bool needs_reservation(const ActiveChannel& state, const ActiveMessage& message) noexcept
{
    return message.least > state.room.size();
}

/// What lies between the pieces of memory that has two, at the target; else nothing.
ActiveRange hole_in(const datatype::Buffer& used) noexcept
{
    datatype::Cursor cursor(used);
    std::array<ActiveRange, 2> pieces;
    for (ActiveRange& piece : pieces) {
        const std::size_t length = cursor.piece().length;
        piece.first = reinterpret_cast<std::uintptr_t>(cursor.piece().address);
        piece.last = piece.first + length;
        cursor.advance(length);
        if (length == 0) {
            return {};
        }
    }
    const auto [low, high] = std::minmax(
        pieces[0], pieces[1], [](const auto& a, const auto& b) { return a.first < b.first; });
    return cursor.at_end() && low.last < high.first ? ActiveRange{low.last, high.first}
                                                    : ActiveRange{};
}

ActivePieceSent* find_piece(ActiveChannel& state, std::uint64_t operation,
                            std::uint64_t segment) noexcept
{
    for (ActivePieceSent& piece : state.sent) {
        if (piece.number != 0 && piece.operation == operation && piece.segment == segment) {
            return &piece;
        }
    }
    return nullptr;
}

} // namespace

void ActiveOrigin::launch(Flight& flight) noexcept
{
    Channel& target = *flight.channel;
    ActiveMessage& message = *flight.op->message;
    message.flight = &flight;
    message.least = room_of(message.call, 1).bytes;
    flight.replies = 1; // for all of its pieces
    if (target.active == nullptr) {
        target.active.reset(new (std::nothrow) ActiveChannel);
    }
    if (target.active == nullptr) {
        message.failure = Status::no_memory;
        message.sent = message.call.segments;
        life_.all_sent(flight);
        finish_if_over(message);
        return;
    }
    target.active->leaving.push(&message);
    send_more(target);
}

/// Those behind one that waits may leave before it, if the order that they are to keep allows it.
void ActiveOrigin::send_more(Channel& target) noexcept
{
    ActiveChannel& state = *target.active;
    if (!state.known) {
        if (!state.asked && !state.leaving.empty()) {
            state.asked = true;
            channels_.send(target, MessageKind::active_ask);
        }
        return;
    }
    if (ActiveMessage* begun = state.begun; begun != nullptr && send(target, *begun)) {
        sent_whole(target, *begun);
    }
    int looked_at = 0;
    for (ActiveMessage* message = state.leaving.front();
         message != nullptr && looked_at < most_active_looked_at; ++looked_at) {
        ActiveMessage* next = decltype(state.leaving)::after(*message);
        if (may_leave(state, *message) && send(target, *message)) {
            sent_whole(target, *message);
        } else if (message == state.begun || !needs_reservation(state, *message)) {
            return; // it needs the room that others would take
        }
        message = next;
    }
}

bool ActiveOrigin::may_leave(const ActiveChannel& state, const ActiveMessage& message) noexcept
{
    if (!rules::active_may_leave_beside(state.begun != nullptr && state.begun != &message)) {
        return false;
    }
    for (const ActiveMessage* earlier = state.leaving.front();
         &message != state.begun && earlier != &message;
         earlier = decltype(state.leaving)::after(*earlier)) {
        if (!rules::active_pass_is_of_use(state.unanswered) ||
            !rules::active_may_pass(earlier->sent != 0, needs_reservation(state, *earlier),
                                    message.keeps_order_with(*earlier))) {
            return false;
        }
    }
    return true;
}

/// Sends as much as there is room for. Answers whether nothing is left of it.
bool ActiveOrigin::send(Channel& target, ActiveMessage& message) noexcept
{
    const ActiveChannel& state = *target.active;
    Place place;
    while (message.sent != message.call.segments && state.unanswered != most_active_pieces) {
        if (message.failure != Status::ok) {
            withdraw(target, message);
        } else if (find_place(target, message, place)) {
            send_piece(target, message, place);
        } else {
            break;
        }
    }
    return message.sent == message.call.segments;
}

/// What is left of it does not leave. A piece without segments, which the target refuses, has it
/// forget the message, and give away what that has reserved or waits for.
void ActiveOrigin::withdraw(Channel& target, ActiveMessage& message) noexcept
{
    if (message.sent != 0 || message.asked) {
        send_piece(target, message, {});
    }
    message.sent = message.call.segments;
}

/// In the room of this origin's own first, else in what it has reserved.
bool ActiveOrigin::find_place(Channel& target, ActiveMessage& message, Place& place) noexcept
{
    ActiveChannel& state = *target.active;
    const std::uint64_t left = std::min<std::uint64_t>(message.call.segments - message.sent, unit_);
    const bool fits = !needs_reservation(state, message);
    if (message.sent == 0 && !rules::active_may_begin(fits, message.reserved)) {
        reserve(target, message);
        return false;
    }
    place.segments = segments_in(message.call, state.room.size(), left);
    place.room = room_of(message.call, place.segments);
    place.reserved = false;
    if (fits && (place.room.bytes == 0 || state.room.take(place.room.bytes, place.offset))) {
        return true;
    }
    if (message.reserved) {
        place.segments = segments_in(message.call, message.room.size(), left);
        place.room = room_of(message.call, place.segments);
        place.reserved = true;
        return place.segments != 0 && message.room.take(place.room.bytes, place.offset);
    }
    if (state.attached != 0) {
        reserve(target, message); // it goes on without, but later
    }
    return false;
}

/// Asks once: for one segment at least, and for what the next two pieces take, so that one is run
/// while the other is on its way.
void ActiveOrigin::reserve(Channel& target, ActiveMessage& message) noexcept
{
    if (message.asked) {
        return;
    }
    message.asked = true;
    const std::uint64_t left = message.call.segments - message.sent;
    const std::uint64_t first = segments_in(message.call, most_room, std::min(left, unit_));
    const std::uint64_t second = std::min(left - first, first);
    const std::uint64_t most = round_up(room_of(message.call, first).bytes, active_granule) +
                               (second != 0 ? room_of(message.call, second).bytes : 0);
    channels_.send(target, MessageKind::active_reserve,
                   ActiveReservationBody{.operation = Flights::name(*message.flight),
                                         .least = message.least,
                                         .most = std::max<std::uint64_t>(message.least, most)});
}

/// The image of the next segments, where it lies already or in memory of the message's.
bool ActiveOrigin::gather(ActiveMessage& message, const ActiveImage& image, std::uint64_t segments,
                          const std::byte*& data) noexcept
{
    const datatype::Buffer& from = message.op->operation.origin;
    if (image.bytes == 0) {
        return true;
    }
    if (one_block(message.call.input, from)) {
        data = block_from(from, message.sent);
        return true;
    }
    try {
        message.leaving.resize(std::max(message.leaving.size(), image.bytes));
    } catch (const std::bad_alloc&) {
        return false;
    }
    fill_image(from, message.sent, segments, message.call.input, image, message.leaving.data());
    data = message.leaving.data();
    return true;
}

void ActiveOrigin::give_back_room(Channel& target, ActiveMessage& message, bool reserved,
                                  std::uint64_t place) noexcept
{
    const bool given_back =
        reserved ? message.room.give_back(place) : target.active->room.give_back(place);
    static_cast<void>(given_back); // it was taken with the piece
}

/// What the first message of a piece says.
ActiveBody ActiveOrigin::body_of(const ActiveMessage& message, const Place& place) noexcept
{
    const ActiveRoom& room = place.room;
    const Operation& operation = message.op->operation;
    const ActiveCall& call = message.call;
    const datatype::Extent touched = datatype::touched(*operation.layout, operation.count);
    const ActiveRange hole =
        hole_in({reinterpret_cast<void*>(message.op->address), operation.layout, operation.count});
    return {.operation = Flights::name(*message.flight),
            .address = message.op->address,
            .first = touched.first,
            .last = touched.last,
            .hole_first = hole.first,
            .hole_last = hole.last,
            .region = operation.region != nullptr ? operation.region->name : no_region,
            .persistent_count = operation.count,
            .input_bytes = room.input.bytes,
            .output_bytes = room.output.bytes,
            .input_start = room.input.start,
            .output_start = room.output.start,
            .output_at = room.output_at,
            .input_count = call.input.count,
            .output_count = call.output.count,
            .place = place.offset,
            .segment = message.sent,
            .segments = call.segments,
            .number = static_cast<std::uint32_t>(place.segments),
            .handler = call.handler,
            .input_type = call.input.type,
            .output_type = call.output.type,
            .persistent_type = call.persistent_type,
            .reserved = place.reserved ? std::uint8_t{1} : std::uint8_t{0},
            .concurrent = call.concurrent ? std::uint8_t{1} : std::uint8_t{0},
            .order = static_cast<std::uint8_t>((call.order.same_op ? 1 : 0) |
                                               (call.order.diff_op ? 2 : 0))};
}

void ActiveOrigin::send_piece(Channel& target, ActiveMessage& message, const Place& place) noexcept
{
    ActiveChannel& state = *target.active;
    const ActiveRoom& room = place.room;
    const std::uint64_t name = Flights::name(*message.flight);
    const std::byte* data = nullptr;
    if (!gather(message, room.input, place.segments, data)) {
        if (room.bytes != 0) {
            give_back_room(target, message, place.reserved, place.offset);
        }
        fail(message, Status::no_memory);
        return;
    }
    const ActiveBody body = body_of(message, place);
    std::size_t length = std::min(room.input.bytes, active_bytes);
    channels_.send(target, MessageKind::active, body, {data, length});
    for (std::size_t position = length; position < room.input.bytes; position += length) {
        length = std::min(room.input.bytes - position, active_bytes);
        channels_.send(
            target, MessageKind::active_input,
            ActiveDataBody{.operation = name, .segment = message.sent, .position = position},
            {data + position, length});
    }
    for (ActivePieceSent& piece : state.sent) {
        if (piece.number == 0) {
            piece = {.operation = name,
                     .segment = message.sent,
                     .place = place.offset,
                     .number = std::max(body.number, 1U),
                     .has_place = room.bytes != 0,
                     .reserved = place.reserved};
            break;
        }
    }
    state.begun = &message;
    ++state.unanswered;
    ++message.unanswered;
    message.sent += place.segments;
}

/// What is left of it does not leave: see `send`.
void ActiveOrigin::fail(ActiveMessage& message, Status status) noexcept
{
    message.failure = message.failure == Status::ok ? status : message.failure;
}

/// The message may be gone on return.
void ActiveOrigin::sent_whole(Channel& target, ActiveMessage& message) noexcept
{
    target.active->leaving.remove(&message);
    target.active->begun = target.active->begun == &message ? nullptr : target.active->begun;
    life_.all_sent(*message.flight);
    finish_if_over(message);
}

void ActiveOrigin::finish_if_over(ActiveMessage& message) noexcept
{
    if (message.unanswered == 0 && message.sent == message.call.segments) {
        life_.fragment_answered(*message.flight, message.failure);
    }
}

ActiveMessage* ActiveOrigin::find(std::uint64_t operation, const Channel& from) noexcept
{
    Flight* flight = channels_.carrier().flights().find(operation, from);
    const bool runs = flight != nullptr && flight->replies != 0 && flight->op->message != nullptr;
    return runs ? flight->op->message : nullptr;
}

void ActiveOrigin::take_room(Channel& from, const ActiveRoomBody& body) noexcept
{
    if (from.active == nullptr || !from.active->asked || from.active->known) {
        return;
    }
    from.active->known = true;
    from.active->attached = body.attached;
    from.active->room.begin(0, body.internal);
    send_more(from);
}

/// One that comes too late belongs to nobody, and the target knows that or hears so (`withdraw`).
void ActiveOrigin::take_reservation(Channel& from, const ActiveReservationBody& body) noexcept
{
    ActiveMessage* message = find(body.operation, from);
    if (message == nullptr || !message->asked || message->reserved ||
        message->sent == message->call.segments) {
        return;
    }
    if (body.least != 0) {
        message->reserved = true;
        message->room.begin(body.place, body.least);
    } else if (needs_reservation(*from.active, *message)) {
        fail(*message, Status::buffer);
        message->sent = message->call.segments; // the target has nothing of it
        sent_whole(from, *message);
    }
    send_more(from);
}

bool ActiveOrigin::take_bytes(ActiveMessage& message, const ActivePieceSent& piece,
                              std::uint64_t position, std::span<const std::byte> payload) noexcept
{
    const datatype::Buffer& to = message.op->operation.result;
    const ActiveImage image = image_of(message.call.output, piece.number);
    if (position == 0) {
        message.arriving = piece.segment;
        message.arrived = 0;
    }
    if (message.arriving != piece.segment || message.arrived != position ||
        payload.size() > image.bytes - message.arrived) {
        return false;
    }
    if (payload.empty()) {
        return true;
    }
    std::byte* memory = nullptr;
    if (one_block(message.call.output, to)) {
        memory = block_from(to, piece.segment);
    } else {
        try {
            message.coming.resize(std::max(message.coming.size(), image.bytes));
        } catch (const std::bad_alloc&) {
            return false;
        }
        memory = message.coming.data();
    }
    std::memcpy(memory + position, payload.data(), payload.size());
    message.arrived += payload.size();
    return true;
}

void ActiveOrigin::take_output(Channel& from, const ActiveDataBody& body,
                               std::span<const std::byte> payload) noexcept
{
    ActiveMessage* message = find(body.operation, from);
    const ActivePieceSent* piece =
        message != nullptr ? find_piece(*from.active, body.operation, body.segment) : nullptr;
    if (piece != nullptr && !take_bytes(*message, *piece, body.position, payload)) {
        fail(*message, Status::other);
    }
}

void ActiveOrigin::take_done(Channel& from, const ActiveDoneBody& body,
                             std::span<const std::byte> payload) noexcept
{
    ActiveMessage* message = find(body.operation, from);
    ActivePieceSent* piece =
        message != nullptr ? find_piece(*from.active, body.operation, body.segment) : nullptr;
    if (piece == nullptr) {
        return;
    }
    const ActiveImage image = image_of(message->call.output, piece->number);
    if (body.status != 0) {
        fail(*message, failure_of(body.status));
    } else if (!take_bytes(*message, *piece, body.position, payload) ||
               message->arrived != image.bytes) {
        fail(*message, Status::other);
    } else if (image.bytes != 0 &&
               !one_block(message->call.output, message->op->operation.result)) {
        take_image(message->op->operation.result, piece->segment, piece->number,
                   message->call.output, image, message->coming.data());
    }
    if (piece->has_place) {
        give_back_room(from, *message, piece->reserved, piece->place);
    }
    *piece = {};
    --from.active->unanswered;
    --message->unanswered;
    finish_if_over(*message);
    send_more(from);
}

void ActiveOrigin::abandon(Channel& channel) noexcept
{
    if (channel.active != nullptr) {
        channel.active->leaving = {};
        channel.active->begun = nullptr;
        channel.active->unanswered = 0;
        channel.active->sent = {};
    }
}

} // namespace sidelight::rma
