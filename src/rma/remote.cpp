// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "rma/process.hpp"
#include "rma/window.hpp"

/// The emulated route, at the origin: an operation becomes messages to the target's engine, one or
/// more for each contiguous piece of target memory, and is complete when each has been answered.
namespace sidelight::rma {

using datatype::Buffer;
using datatype::Cursor;

namespace {

/// Pieces sent to one target and not answered, at most. What is more waits here, so a target that
/// is late is not buried.
constexpr std::uint32_t most_in_flight = 512;
/// The first operation in flight towards a target, or of an epoch, leaves at once where that is of
/// use. Others leave together: when there are enough of them, when something is answered, or when
/// the program closes or flushes.
constexpr std::uint32_t batched = 64;

/// Copies the next `bytes` of data at the cursor to `to` and moves on.
void gather(Cursor& from, std::byte* to, std::size_t bytes) noexcept
{
    while (bytes != 0 && !from.at_end()) {
        const datatype::Piece piece = from.piece();
        const std::size_t length = std::min(bytes, piece.length);
        std::memcpy(to, piece.address, length);
        from.advance(length);
        to += length;
        bytes -= length;
    }
}

MessageKind message_of(const Operation& operation) noexcept
{
    switch (operation.kind) {
    case OperationKind::put:
        return MessageKind::put;
    case OperationKind::get:
        return MessageKind::get;
    case OperationKind::compare_and_swap:
        return MessageKind::compare_and_swap;
    default:
        return MessageKind::accumulate;
    }
}

bool carries_data(const Operation& operation) noexcept
{
    return operation.kind == OperationKind::put ||
           (operation.kind == OperationKind::accumulate && operation.reduce != ReduceOp::no_op);
}

/// Whether the piece goes as a long message of its own.
bool is_long(const Operation& operation, std::size_t length) noexcept
{
    return operation.kind == OperationKind::put && length >= long_bytes;
}

/// How much of the operation's data the next message is about. Elements are never cut, and those
/// with holes travel one by one.
std::size_t next_length(const Flight& flight) noexcept
{
    const Operation& operation = flight.op->operation;
    const std::size_t piece = flight.target.piece().length;
    if (operation.kind == OperationKind::accumulate) {
        const datatype::BasicShape shape = datatype::shape_of(operation.layout->basic);
        return shape.size != shape.extent ? shape.size : std::min(piece, piece_bytes);
    }
    const std::size_t both = std::min(piece, flight.data.piece().length);
    return both >= long_bytes ? both : std::min(piece, piece_bytes);
}

/// The target keeps track of so many long puts that overtake one another, and no more.
bool may_send(const Flight& flight, const Target& target) noexcept
{
    return target.longs_sent - target.longs_performed < Series::span ||
           !is_long(flight.op->operation, next_length(flight));
}

/// Whether it leaves at once, with nothing under way that others could wait for.
bool is_first(const Flight& flight, const Target& target) noexcept
{
    const Op& op = *flight.op;
    const bool alone = target.in_flight == 0 || op.epoch->parts[op.part].outstanding == 1;
    return alone && rules::leaves_at_once(op.epoch->kind == EpochKind::access,
                                          returned_to(op.operation) != nullptr,
                                          is_long(op.operation, data_bytes(op.operation)));
}

} // namespace

void Window::send(int target, MessageHeader header, std::span<const std::byte> payload) noexcept
{
    if (targets_[target].lost) [[unlikely]] {
        return;
    }
    if (!targets_[target].greeted) {
        targets_[target].greeted = true;
        process_.note_met(targets_[target].peer);
    }
    header.window = id_;
    header.origin = static_cast<std::uint32_t>(rank_);
    static_cast<void>(process_.send(targets_[target].peer, header, payload));
}

/// The payload is read until `sent` has finished; it never does where the answer is not ok.
Status Window::send_long(int target, MessageHeader header, std::span<const std::byte> payload,
                         fabric::Completion& sent) noexcept
{
    header.window = id_;
    header.origin = static_cast<std::uint32_t>(rank_);
    process_.held_ = true; // its receiver is still to be woken
    return process_.fabric_.send_long(targets_[target].peer, std::as_bytes(std::span(&header, 1)),
                                      payload, sent);
}

void Window::launch(Op& op) noexcept
{
    Flight* flight = process_.flights_.take(op);
    if (flight == nullptr) {
        end_op(op, Status::no_memory);
        return;
    }
    const Operation& operation = op.operation;
    flight->target =
        Cursor({reinterpret_cast<void*>(op.address), operation.layout, operation.count});
    if (carries_data(operation) || operation.kind == OperationKind::get) {
        flight->data = Cursor(operation.origin);
    }
    if (const Buffer* to = returned_to(operation); to != nullptr) {
        flight->answers = Cursor(*to);
    }
    Target& target = targets_[operation.target];
    target.launching.push(flight);
    launch_more(target);
}

/// Sends what waits for this target, in order of issue, as far as it may.
void Window::launch_more(Target& target) noexcept
{
    bool push = std::exchange(process_.unpushed_, false);
    while (!target.launching.empty() && target.in_flight < most_in_flight) {
        Flight& flight = *target.launching.front();
        const bool first = is_first(flight, target);
        send_pieces(flight, target);
        push = push || first || target.in_flight % batched == 0;
        if (!flight.launched) {
            break;
        }
        target.launching.pop();
        launched(flight, target);
    }
    process_.unpushed_ = push;
    if (!flushes_.empty()) {
        ask_all();
    }
}

/// It is sent whole. The flight may be gone on return.
void Window::launched(Flight& flight, Target& target) noexcept
{
    Op& op = *flight.op;
    const bool by_message = target.control == nullptr && op.epoch->kind != EpochKind::fence;
    if (rules::word_follows(by_message, returned_to(op.operation) != nullptr)) {
        let_go(op);
    }
    flight.counted = flight.counted && !has_performed(target, flight.last_piece);
    if (flight.counted) {
        target.counted.push(&flight);
    }
    answer_complete(flight);
}

void Window::send_pieces(Flight& flight, Target& target) noexcept
{
    const Operation& operation = flight.op->operation;
    if (operation.kind == OperationKind::compare_and_swap) {
        send_compare_and_swap(flight);
        ++target.in_flight;
        flight.launched = true;
        return;
    }
    while (!flight.target.at_end() && target.in_flight < most_in_flight &&
           may_send(flight, target)) {
        send_piece(flight, target);
        ++target.in_flight;
    }
    flight.launched = flight.target.at_end();
}

MessageHeader Window::header_of(const Flight& flight) noexcept
{
    const Operation& operation = flight.op->operation;
    MessageHeader header;
    header.kind = message_of(operation);
    header.reduce = static_cast<std::uint8_t>(operation.reduce);
    header.basic = static_cast<std::uint8_t>(operation.layout->basic);
    header.flag = returned_to(operation) != nullptr ? 1 : 0;
    header.address = reinterpret_cast<std::uintptr_t>(flight.target.piece().address);
    header.position = flight.position;
    header.cookie = Flights::cookie(flight);
    return header;
}

void Window::send_piece(Flight& flight, Target& target) noexcept
{
    const Operation& operation = flight.op->operation;
    const std::size_t length = next_length(flight);
    MessageHeader header = header_of(flight);
    header.bytes = length;
    if (returned_to(operation) != nullptr || is_long(operation, length)) {
        ++flight.replies;
    } else {
        count_piece(flight, target, header);
    }
    flight.position += length;
    flight.target.advance(length);
    if (!carries_data(operation)) {
        flight.data.advance(length); // where a get goes
        send(operation.target, header);
    } else if (is_long(operation, length)) {
        send_long_piece(flight, header, length);
    } else {
        std::array<std::byte, piece_bytes> staging;
        gather(flight.data, staging.data(), length);
        send(operation.target, header, {staging.data(), length});
    }
}

/// Straight from the origin's memory.
void Window::send_long_piece(Flight& flight, MessageHeader header, std::size_t length) noexcept
{
    const std::byte* from = flight.data.piece().address;
    flight.data.advance(length);
    LongSend* sent = process_.long_sends_.take();
    if (sent == nullptr) {
        refuse(flight, Status::no_memory);
        return;
    }
    ++flight.sends;
    sent->owner = &process_;
    sent->window = this;
    sent->flight = &flight;
    sent->finished = long_piece_sent;
    Target& target = targets_[flight.op->operation.target];
    header.number = ++target.longs_sent;
    const Status status = send_long(flight.op->operation.target, header, {from, length}, *sent);
    if (status != Status::ok) {
        --target.longs_sent;
        --flight.sends;
        process_.long_sends_.give_back(sent);
        refuse(flight, status);
    }
}

/// One that could not leave tells nothing of itself: its answer comes, or the peer is lost.
void Window::long_piece_sent(fabric::Completion& self, Status /*status*/) noexcept
{
    auto& sent = static_cast<LongSend&>(self);
    Window& window = *sent.window;
    Flight& flight = *sent.flight;
    sent.owner->long_sends_.give_back(&sent);
    --flight.sends;
    window.answer_complete(flight);
}

/// Compare and origin travel side by side.
void Window::send_compare_and_swap(Flight& flight) noexcept
{
    const Operation& operation = flight.op->operation;
    std::array<std::byte, 32> both{};
    const std::size_t size = operation.layout->size;
    std::memcpy(both.data(), operation.compare, size);
    std::memcpy(both.data() + size, operation.origin.address, size);
    MessageHeader header = header_of(flight);
    header.bytes = size;
    ++flight.replies;
    flight.position = size;
    send(operation.target, header, {both.data(), 2 * size});
}

} // namespace sidelight::rma
