// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "rma/process.hpp"
#include "rma/window.hpp"

/// The emulated route, at the origin: an operation becomes messages to the target's engine, one or
/// more per contiguous piece of target memory, and is complete when each has been answered.
namespace sidelight::rma {

using datatype::Buffer;
using datatype::Cursor;

namespace {

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

void scatter(Cursor& to, std::span<const std::byte> from) noexcept
{
    while (!from.empty() && !to.at_end()) {
        const datatype::Piece piece = to.piece();
        const std::size_t length = std::min(from.size(), piece.length);
        std::memcpy(piece.address, from.data(), length);
        to.advance(length);
        from = from.subspan(length);
    }
}

void skip(Cursor& cursor, std::size_t bytes) noexcept
{
    while (bytes != 0 && !cursor.at_end()) {
        const std::size_t length = std::min(bytes, cursor.piece().length);
        cursor.advance(length);
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

/// Whether old data come back, and where they go.
const Buffer* returned_to(const Operation& operation) noexcept
{
    if (operation.kind == OperationKind::get) {
        return &operation.origin;
    }
    return operation.result.layout != nullptr ? &operation.result : nullptr;
}

bool carries_data(const Operation& operation) noexcept
{
    return operation.kind == OperationKind::put ||
           (operation.kind == OperationKind::accumulate && operation.reduce != ReduceOp::no_op);
}

} // namespace

void Window::send(int target, MessageHeader header, std::span<const std::byte> payload) noexcept
{
    header.window = id_;
    header.origin = static_cast<std::uint32_t>(rank_);
    const Target& to = targets_[static_cast<std::size_t>(target)];
    static_cast<void>(
        process_.fabric_.send(to.peer, std::as_bytes(std::span(&header, 1)), payload));
}

void Window::launch(Op& op) noexcept
{
    const Operation& operation = op.operation;
    MessageHeader header;
    header.kind = message_of(operation);
    header.reduce = static_cast<std::uint8_t>(operation.reduce);
    header.basic = static_cast<std::uint8_t>(operation.layout->basic);
    header.flag = returned_to(operation) != nullptr ? 1 : 0;
    header.cookie = reinterpret_cast<std::uintptr_t>(&op);
    ++op.replies; // held back until everything is sent
    if (operation.kind == OperationKind::compare_and_swap) {
        launch_compare_and_swap(op, header);
    } else {
        launch_pieces(op, header);
    }
    if (returned_to(operation) == nullptr) {
        local_complete(op);
    }
    one_reply(op);
}

/// Compare and origin travel side by side.
void Window::launch_compare_and_swap(Op& op, MessageHeader header) noexcept
{
    const Operation& operation = op.operation;
    std::array<std::byte, 32> both{};
    const std::size_t size = operation.layout->size;
    std::memcpy(both.data(), operation.compare, size);
    std::memcpy(both.data() + size, operation.origin.address, size);
    header.address = op.address;
    header.bytes = size;
    ++op.replies;
    send(operation.target, header, {both.data(), 2 * size});
}

/// Walks the target's layout over offsets in place of addresses, and the origin's data beside it.
void Window::launch_pieces(Op& op, MessageHeader header) noexcept
{
    const Operation& operation = op.operation;
    Cursor target({reinterpret_cast<void*>(op.address), operation.layout, operation.count});
    const bool data = carries_data(operation);
    Cursor origin(data ? operation.origin : Buffer{nullptr, operation.layout, 0});
    std::array<std::byte, piece_bytes> staging;
    while (!target.at_end()) {
        const datatype::Piece piece = target.piece();
        const std::size_t length = std::min(piece.length, piece_bytes);
        header.address = reinterpret_cast<std::uintptr_t>(piece.address);
        header.bytes = length;
        if (data) {
            gather(origin, staging.data(), length);
        }
        ++op.replies;
        send(operation.target, header, {staging.data(), data ? length : 0});
        header.position += length;
        target.advance(length);
    }
}

/// One message of the operation is answered, or it has been sent whole.
void Window::one_reply(Op& op) noexcept
{
    if (--op.replies != 0) {
        return;
    }
    if (returned_to(op.operation) != nullptr) {
        local_complete(op);
    }
    remote_complete(op);
}

void Window::take_reply(const Message& message) noexcept
{
    Op& op = *std::bit_cast<Op*>(message.header.cookie);
    if (message.header.kind == MessageKind::reply) {
        if (const Buffer* to = returned_to(op.operation); to != nullptr) {
            Cursor cursor(*to);
            skip(cursor, message.header.position);
            scatter(cursor, message.payload);
        }
    }
    one_reply(op);
}

} // namespace sidelight::rma
