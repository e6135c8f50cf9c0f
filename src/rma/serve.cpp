// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <bit>
#include <cstring>

#include "datatype/basic_layout.hpp"
#include "rma/process.hpp"
#include "rma/window.hpp"

/// What messages ask of this member: the target's side of the emulated route, and the words and the
/// lock queue that members elsewhere cannot write themselves.
namespace sidelight::rma {

using datatype::Basic;
using datatype::Buffer;
using datatype::Layout;

namespace {

/// Payloads are aligned for the widest element before a reduction reads them.
struct alignas(64) Staging {
    std::array<std::byte, piece_bytes> bytes;
};

} // namespace

std::byte* Window::own_memory(std::uint64_t address) noexcept
{
    return targets_[static_cast<std::size_t>(rank_)].base + address;
}

void Window::receive(const Message& message) noexcept
{
    const MessageHeader& header = message.header;
    switch (header.kind) {
    case MessageKind::put:
        serve_put(message);
        break;
    case MessageKind::get:
        serve_get(message);
        break;
    case MessageKind::accumulate:
        serve_accumulate(message);
        break;
    case MessageKind::compare_and_swap:
        serve_compare_and_swap(message);
        break;
    case MessageKind::reply:
    case MessageKind::done_op:
        take_reply(message);
        break;
    case MessageKind::grant:
        raise(own().words(static_cast<int>(header.origin)).granted, header.number);
        break;
    case MessageKind::done:
        raise(own().words(static_cast<int>(header.origin)).done, header.number);
        break;
    case MessageKind::lock:
        serve_lock(message);
        break;
    case MessageKind::lock_grant:
        take_lock_grant(message);
        break;
    case MessageKind::unlock:
        leave_lock(own(), static_cast<LockType>(header.flag));
        break;
    case MessageKind::barrier:
        barrier_.receive(header.round, header.number);
        break;
    case MessageKind::count_:
        break;
    }
    progress();
}

void Window::answer(const Message& message, MessageKind kind,
                    std::span<const std::byte> payload) noexcept
{
    MessageHeader header;
    header.kind = kind;
    header.cookie = message.header.cookie;
    header.position = message.header.position;
    send(static_cast<int>(message.header.origin), header, payload);
}

void Window::serve_put(const Message& message) noexcept
{
    std::memcpy(own_memory(message.header.address), message.payload.data(), message.payload.size());
    answer(message, MessageKind::done_op);
}

void Window::serve_get(const Message& message) noexcept
{
    answer(message, MessageKind::reply, {own_memory(message.header.address), message.header.bytes});
}

void Window::serve_accumulate(const Message& message) noexcept
{
    const MessageHeader& header = message.header;
    const Layout& layout = datatype::basic_layout(static_cast<Basic>(header.basic));
    const std::size_t elements = header.bytes / layout.size;
    const auto op = static_cast<ReduceOp>(header.reduce);
    Staging origin;
    std::memcpy(origin.bytes.data(), message.payload.data(), message.payload.size());
    const Buffer from{origin.bytes.data(), &layout, elements};
    const Buffer memory{own_memory(header.address), &layout, elements};
    if (header.flag == 0) {
        static_cast<void>(accumulate(op, from, memory, own().atomicity));
        answer(message, MessageKind::done_op);
        return;
    }
    Staging old;
    const Buffer to{old.bytes.data(), &layout, elements};
    static_cast<void>(get_accumulate(op, from, to, memory, own().atomicity));
    answer(message, MessageKind::reply, {old.bytes.data(), header.bytes});
}

void Window::serve_compare_and_swap(const Message& message) noexcept
{
    const MessageHeader& header = message.header;
    const Layout& layout = datatype::basic_layout(static_cast<Basic>(header.basic));
    Staging both;
    Staging old;
    std::memcpy(both.bytes.data(), message.payload.data(), message.payload.size());
    // Two elements of at most 16 bytes; the second is moved to an aligned place of its own.
    std::byte* origin = both.bytes.data() + 64;
    std::memcpy(origin, both.bytes.data() + header.bytes, header.bytes);
    static_cast<void>(compare_and_swap(origin, both.bytes.data(), old.bytes.data(), &layout,
                                       own_memory(header.address), own().atomicity));
    answer(message, MessageKind::reply, {old.bytes.data(), header.bytes});
}

/// Takes a place in this member's queue for an origin that cannot reach it.
void Window::serve_lock(const Message& message) noexcept
{
    const MessageHeader& header = message.header;
    const auto type = static_cast<LockType>(header.flag);
    waiting_.push_back({.origin = static_cast<int>(header.origin),
                        .type = type,
                        .place = own().lock.arrive(type),
                        .cookie = header.cookie,
                        .part = header.position});
    update_busy();
}

bool Window::grant_waiting() noexcept
{
    const auto granted = std::erase_if(waiting_, [&](const Waiting& waiting) {
        if (!own().lock.admits(waiting.type, waiting.place)) {
            return false;
        }
        MessageHeader header;
        header.kind = MessageKind::lock_grant;
        header.cookie = waiting.cookie;
        header.position = waiting.part;
        send(waiting.origin, header);
        return true;
    });
    update_busy();
    return granted != 0;
}

void Window::take_lock_grant(const Message& message) noexcept
{
    Epoch& epoch = *std::bit_cast<Epoch*>(message.header.cookie);
    epoch.parts[message.header.position].number = 1;
}

/// A counter of a member elsewhere, written here for it; only ever upwards.
void Window::raise(std::atomic<std::uint64_t>& word, std::uint64_t number) noexcept
{
    if (word.load(std::memory_order_relaxed) < number) {
        word.store(number, std::memory_order_release);
    }
}

} // namespace sidelight::rma
