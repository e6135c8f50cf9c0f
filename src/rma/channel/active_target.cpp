// SPDX-License-Identifier: BSD-3-Clause
#include "rma/channel/active_target.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/bytes.hpp"
#include "rma/active/rules.hpp"

namespace sidelight::rma {

namespace {

/// What the handler gets must be no wilder than a datatype can make it.
constexpr std::int64_t farthest = std::int64_t{1} << 62;

ActiveRange active_range_of(const ActiveBody& body) noexcept
{
    return {body.address + static_cast<std::uint64_t>(body.first),
            body.address + static_cast<std::uint64_t>(body.last)};
}

/// The region of a memory handle that it is about: a release waits for what runs there.
RegionName region_of(const ActiveBody& body) noexcept
{
    return body.first != body.last ? body.region : no_region;
}

RegionName region_of(const ActivePiece& piece) noexcept { return region_of(piece.body); }

ActiveOrder order_of(const ActiveBody& body) noexcept
{
    return {.same_op = (body.order & 1U) != 0, .diff_op = (body.order & 2U) != 0};
}

bool follows(const ActiveIncoming& later, const ActiveIncoming& earlier) noexcept
{
    return later.from == earlier.from &&
           rules::active_keeps_order(later.order, later.handler == earlier.handler,
                                     later.range.overlaps(earlier.range));
}

} // namespace

void ActiveTarget::note_largest_room() noexcept
{
    with_.own.largest_room.store(std::max(room_, buffer_.bytes()), std::memory_order_release);
}

void ActiveTarget::set_room(std::size_t bytes) noexcept
{
    room_ = bytes;
    note_largest_room();
}

Status ActiveTarget::attach(std::byte* memory, std::size_t bytes) noexcept
{
    if (buffer_.attached()) {
        return Status::buffer;
    }
    buffer_.attach(memory, bytes);
    note_largest_room();
    return Status::ok;
}

Status ActiveTarget::begin_detach() noexcept
{
    if (!buffer_.attached()) {
        return Status::buffer;
    }
    buffer_.begin_detach();
    note_largest_room();
    return Status::ok;
}

bool ActiveTarget::end_detach() noexcept { return buffer_.end_detach(); }

void ActiveTarget::serve_ask(Channel& from) noexcept
{
    with_.channels.send(from, MessageKind::active_room,
                        ActiveRoomBody{.internal = room_, .attached = buffer_.bytes()});
}

ActiveIncoming* ActiveTarget::find(const Channel& from, std::uint64_t operation) noexcept
{
    ActiveIncoming* latest = from.active != nullptr ? from.active->latest : nullptr;
    if (latest != nullptr && latest->operation == operation) {
        return latest;
    }
    for (ActiveIncoming* message = turn_.front(); message != nullptr;
         message = Turn::after(*message)) {
        if (message->from == &from && message->operation == operation) {
            return message;
        }
    }
    return nullptr;
}

void ActiveTarget::refuse(Channel& from, const ActiveBody& body, Status status) noexcept
{
    with_.channels.send(from, MessageKind::active_done,
                        ActiveDoneBody{.operation = body.operation,
                                       .segment = body.segment,
                                       .status = static_cast<std::uint8_t>(status)});
}

/// Whether a piece can be taken in, and where.
Status ActiveTarget::check(Channel& from, const ActiveBody& body, std::byte*& memory) noexcept
{
    ActiveChannel& state = *from.active;
    std::uint64_t bytes = 0;
    const bool sound = body.number != 0 && body.segment < body.segments &&
                       body.number <= body.segments - body.segment &&
                       body.output_at >= body.input_bytes && body.first <= body.last &&
                       body.input_start > -farthest && body.input_start < farthest &&
                       body.output_start > -farthest && body.output_start < farthest &&
                       !__builtin_add_overflow(body.output_at, body.output_bytes, &bytes);
    const bool one_more = body.segment != 0 || state.messages < 2 * most_active_pieces;
    if (!sound || state.here == most_active_pieces || !one_more) {
        return Status::other;
    }
    if (body.handler >= with_.handlers.size() || with_.handlers[body.handler] == nullptr) {
        return Status::op;
    }
    if (bytes == 0) {
        return Status::ok;
    }
    if (body.reserved != 0) {
        memory = buffer_.find(from, body.operation, body.place, bytes);
        return memory != nullptr ? Status::ok : Status::buffer;
    }
    if (bytes > room_ || body.place > room_ - bytes) {
        return Status::buffer;
    }
    if (state.memory == nullptr) {
        state.memory.reset(new (std::nothrow) std::byte[room_]);
    }
    memory = state.memory != nullptr ? state.memory.get() + body.place : nullptr;
    return memory != nullptr ? Status::ok : Status::no_memory;
}

/// From then on it has its turn among the messages of all origins.
ActiveIncoming* ActiveTarget::begin(Channel& from, const ActiveBody& body) noexcept
{
    ActiveIncoming* message = messages_.take();
    if (message == nullptr) {
        return nullptr;
    }
    *message = {.from = &from,
                .operation = body.operation,
                .range = active_range_of(body),
                .segments = body.segments,
                .handler = body.handler,
                .concurrent = body.concurrent != 0,
                .order = order_of(body)};
    turn_.push(message);
    from.active->latest = message;
    ++from.active->messages;
    with_.attention.set(Reason::active_here, true);
    return message;
}

/// The first byte that the handler may use, if all may be. In a dynamic window a hole need not be
/// attached. A message tells of one at most: where the handler uses more pieces one region has all.
std::byte* ActiveTarget::find_persistent(const ActiveBody& body) const noexcept
{
    const ActiveRange range = active_range_of(body);
    std::byte* first = with_.memory.find(range.first, range.last - range.first, body.region);
    const bool apart = range.first < body.hole_first && body.hole_first < body.hole_last &&
                       body.hole_last < range.last && body.region == no_region &&
                       with_.memory.is_dynamic();
    if (first == nullptr && apart &&
        with_.memory.find(body.hole_last, range.last - body.hole_last) != nullptr) {
        first = with_.memory.find(range.first, body.hole_first - range.first);
    }
    return first;
}

/// A message of which a piece was refused is over, though more of it may be on its way.
void ActiveTarget::serve_piece(Channel& from, const ActiveBody& body,
                               std::span<const std::byte> payload) noexcept
{
    if (from.lost) {
        return;
    }
    if (from.active == nullptr) {
        from.active.reset(new (std::nothrow) ActiveChannel);
    }
    std::byte* memory = nullptr;
    Status status = from.active != nullptr ? check(from, body, memory) : Status::no_memory;
    ActiveIncoming* message = body.segment != 0 ? find(from, body.operation) : nullptr;
    if (status == Status::ok && message == nullptr) {
        message = body.segment == 0 ? begin(from, body) : nullptr;
        status = message != nullptr ? Status::ok : Status::no_memory;
    }
    const std::uint64_t extent =
        static_cast<std::uint64_t>(body.last) - static_cast<std::uint64_t>(body.first);
    std::byte* persistent = extent != 0 ? find_persistent(body) : with_.memory.base();
    if (status == Status::ok && extent != 0 && persistent == nullptr) {
        status = Status::rma_range;
    }
    ActivePiece* piece = status == Status::ok ? pieces_.take() : nullptr;
    status = status == Status::ok && piece == nullptr ? Status::no_memory : status;
    const bool fits =
        message != nullptr && !message->failed() && message->come == body.segment &&
        message->segments == body.segments && payload.size() <= body.input_bytes &&
        (message->pieces.empty() || region_of(*message->pieces.front()) == region_of(body));
    if (status != Status::ok || !fits) {
        if (piece != nullptr) {
            pieces_.give_back(piece);
        }
        refuse(from, body, status != Status::ok ? status : Status::other);
        if (message != nullptr) {
            message->failure = message->failed() ? message->failure : Status::other;
            end_if_over(*message);
        } else if (find(from, body.operation) == nullptr) {
            buffer_.release(from, body.operation);
        }
        return;
    }
    // What somebody else says how far away it is, maybe nowhere.
    const std::uint64_t distance =
        extent != 0 ? ~static_cast<std::uint64_t>(body.first) + 1 : body.address;
    message->persistent = displaced(persistent, static_cast<std::ptrdiff_t>(distance));
    *piece = {.body = body, .memory = memory, .received = payload.size()};
    if (!payload.empty()) {
        std::memcpy(memory, payload.data(), payload.size());
    }
    if (body.output_bytes != 0) {
        std::memset(memory + body.output_at, 0, body.output_bytes);
    }
    with_.memory.begin_use(region_of(*piece));
    message->pieces.push(piece);
    message->latest = piece;
    message->come += body.number;
    ++from.active->here;
}

void ActiveTarget::serve_input(Channel& from, const ActiveDataBody& body,
                               std::span<const std::byte> payload) noexcept
{
    ActiveIncoming* message = find(from, body.operation);
    ActivePiece* piece = message != nullptr ? message->latest : nullptr;
    const bool fits = piece != nullptr && piece->body.segment == body.segment &&
                      piece->received == body.position &&
                      payload.size() <= piece->body.input_bytes - piece->received;
    if (fits) {
        std::memcpy(piece->memory + piece->received, payload.data(), payload.size());
        piece->received += payload.size();
    }
}

/// Those before it must let it: all that exclude it, or that it has to follow.
bool ActiveTarget::may_run(const ActiveIncoming& message) noexcept
{
    for (ActiveIncoming* earlier = turn_.front(); earlier != &message;
         earlier = Turn::after(*earlier)) {
        if (!rules::active_may_share(earlier->concurrent, message.concurrent) ||
            follows(message, *earlier)) {
            return false;
        }
    }
    return true;
}

ActiveIncoming* ActiveTarget::take(ActiveInvocation& invocation) noexcept
{
    int looked_at = 0;
    for (ActiveIncoming* message = turn_.front();
         message != nullptr && looked_at < most_active_looked_at;
         message = Turn::after(*message), ++looked_at) {
        if (!may_run(*message)) {
            continue;
        }
        const bool ready = !message->running && !message->failed() && !message->pieces.empty() &&
                           message->pieces.front()->complete();
        if (ready && admit(*message)) {
            message->running = true;
            with_.channels.begin_reading();
            describe(*message, invocation);
            return message;
        }
    }
    return nullptr;
}

bool ActiveTarget::has_more_than(const ActiveIncoming& message) const noexcept
{
    return turn_.front() != &message || Turn::after(message) != nullptr ||
           message.pieces.front()->next != nullptr;
}

/// Its part of the exclusion, which it keeps until it is over: the whole message is the unit.
bool ActiveTarget::admit(ActiveIncoming& message) noexcept
{
    if (message.admitted) {
        return true;
    }
    if (admitted_ != 0 && !rules::active_may_share(sharing_, message.concurrent)) {
        return false;
    }
    if (admitted_ == 0) {
        hold_ = with_.exclusion.try_enter(with_.rank, message.concurrent, message.refused++);
        if (!hold_) {
            return false;
        }
        sharing_ = message.concurrent;
    }
    ++admitted_;
    message.admitted = true;
    return true;
}

void ActiveTarget::describe(const ActiveIncoming& message,
                            ActiveInvocation& invocation) const noexcept
{
    const ActivePiece& piece = *message.pieces.front();
    const ActiveBody& body = piece.body;
    invocation = {.handler = with_.handlers[message.handler],
                  .input = displaced(piece.memory, body.input_start),
                  .input_count = body.input_count,
                  .input_type = body.input_type,
                  .persistent = message.persistent,
                  .persistent_count = body.persistent_count,
                  .persistent_type = body.persistent_type,
                  .output = displaced(piece.memory + body.output_at, body.output_start),
                  .output_count = body.output_count,
                  .output_type = body.output_type,
                  .segments = body.number,
                  .offset = body.segment};
}

/// What it has made, and that it is over.
void ActiveTarget::answer(Channel& from, const ActivePiece& piece) noexcept
{
    const ActiveBody& body = piece.body;
    const std::byte* output = piece.memory + body.output_at;
    std::size_t position = 0;
    while (body.output_bytes - position > active_bytes) {
        with_.channels.send(from, MessageKind::active_output,
                            ActiveDataBody{.operation = body.operation,
                                           .segment = body.segment,
                                           .position = position},
                            {output + position, active_bytes});
        position += active_bytes;
    }
    const std::size_t rest = body.output_bytes - position;
    with_.channels.send(
        from, MessageKind::active_done,
        ActiveDoneBody{.operation = body.operation, .segment = body.segment, .position = position},
        rest != 0 ? std::span(output + position, rest) : std::span<const std::byte>());
}

void ActiveTarget::finish(ActiveIncoming& message) noexcept
{
    ActivePiece* piece = message.pieces.pop();
    message.running = false;
    message.run += piece->body.number;
    message.latest = message.latest == piece ? nullptr : message.latest;
    with_.channels.end_reading();
    if (!message.from->lost) {
        answer(*message.from, *piece);
        --message.from->active->here;
    }
    drop(piece);
    end_if_over(message);
}

void ActiveTarget::drop(ActivePiece* piece) noexcept
{
    with_.memory.end_use(region_of(*piece));
    pieces_.give_back(piece);
}

/// Pieces that were taken in before one was refused are refused, too.
void ActiveTarget::end_if_over(ActiveIncoming& message) noexcept
{
    const bool over = message.failed() || message.run == message.segments;
    if (!rules::active_room_is_free(over, message.running)) {
        return;
    }
    Channel& from = *message.from;
    while (!message.pieces.empty()) {
        ActivePiece* piece = message.pieces.pop();
        --from.active->here;
        refuse(from, piece->body, message.failure);
        drop(piece);
    }
    buffer_.release(from, message.operation);
    if (message.admitted && --admitted_ == 0) {
        Exclusion::leave(hold_);
    }
    turn_.remove(&message);
    --from.active->messages;
    if (from.active->latest == &message) {
        from.active->latest = nullptr;
    }
    messages_.give_back(&message);
    with_.attention.set(Reason::active_here, !turn_.empty());
}

template <class Wanted>
void ActiveTarget::fail_if(Wanted wanted, Status failure) noexcept
{
    turn_.for_each([&](ActiveIncoming& message) {
        if (wanted(message)) {
            message.failure = failure;
            end_if_over(message);
        }
    });
}

void ActiveTarget::refuse_region(RegionName name) noexcept
{
    const auto is_about_it = [&](const ActiveIncoming& message) {
        return !message.pieces.empty() && region_of(*message.pieces.front()) == name;
    };
    fail_if(is_about_it, Status::rma_range);
}

void ActiveTarget::abandon(Channel& channel) noexcept
{
    fail_if([&](const ActiveIncoming& message) { return message.from == &channel; }, Status::lost);
    buffer_.abandon(channel, [&](std::uint64_t operation) {
        return find(channel, operation) != nullptr; // a handler is inside
    });
}

} // namespace sidelight::rma
