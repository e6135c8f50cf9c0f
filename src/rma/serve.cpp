// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include "base/bytes.hpp"
#include "base/log.hpp"
#include "datatype/basic_layout.hpp"
#include "rma/process.hpp"
#include "rma/window.hpp"

/// What messages ask of this member: the target's side of the emulated route. Nothing in a message
/// is trusted: what does not fit into this member's memory, or into the protocol, changes nothing.
namespace sidelight::rma {

using datatype::Basic;
using datatype::Buffer;
using datatype::Layout;

namespace {

/// For elements that are aligned as a reduction wants them. Those with holes travel without them,
/// one in a message.
struct alignas(64) Staging {
    std::array<std::byte, piece_bytes> bytes;
};
static_assert(sizeof(Staging::bytes) >= 128, "two elements, each aligned");

/// A number of elements of one basic type, packed in a message and spread in memory.
struct Elements {
    const Layout& layout;
    std::size_t count;

    [[nodiscard]] Buffer at(void* address) const noexcept { return {address, &layout, count}; }
};

void unpack(std::span<const std::byte> packed, const Buffer& to) noexcept
{
    // Only read from; a Buffer has one type of address.
    auto* from = const_cast<std::byte*>(packed.data());
    datatype::copy(to, {from, &datatype::basic_layout(Basic::byte), packed.size()});
}

std::size_t pack(const Buffer& from, std::byte* to) noexcept
{
    return datatype::copy({to, &datatype::basic_layout(Basic::byte), from.bytes()}, from);
}

bool is_basic(std::uint8_t basic) noexcept
{
    return basic > static_cast<std::uint8_t>(Basic::none) &&
           basic < static_cast<std::uint8_t>(Basic::count_);
}

/// The elements that a message brings: where they are, if they may be read there, else unpacked.
Buffer elements_of(std::span<const std::byte> packed, const Elements& elements,
                   Staging& staging) noexcept
{
    constexpr std::size_t widest = 16;
    const std::size_t alignment = std::min(elements.layout.size, widest);
    if (elements.layout.contiguous &&
        reinterpret_cast<std::uintptr_t>(packed.data()) % alignment == 0) {
        return elements.at(const_cast<std::byte*>(packed.data())); // only read from
    }
    const Buffer unpacked = elements.at(staging.bytes.data());
    unpack(packed, unpacked);
    return unpacked;
}

/// The extent of all that a message's elements touch; 0 for what is no number of them, or for more
/// than a message may be about.
std::size_t extent_of(const MessageHeader& header) noexcept
{
    const datatype::BasicShape shape = datatype::shape_of(static_cast<Basic>(header.basic));
    const bool whole = header.bytes != 0 && header.bytes <= piece_bytes &&
                       header.bytes % shape.size == 0 &&
                       (shape.size == shape.extent || header.bytes == shape.size);
    return whole ? header.bytes / shape.size * shape.extent : 0;
}

} // namespace

/// This member's memory, if all of it is in the window.
std::byte* Window::own_memory(std::uint64_t address, std::uint64_t bytes) noexcept
{
    if (flavor_ == Flavor::dynamic) {
        return bytes <= ~address && attached_->covers(address, address + bytes)
                   ? reinterpret_cast<std::byte*>(address)
                   : nullptr;
    }
    const Target& own = targets_[rank_];
    return address <= own.size && bytes <= own.size - address ? own.base + address : nullptr;
}

/// Whether the sender is the member that the message says it is.
bool Window::comes_from(int peer, const MessageHeader& header) noexcept
{
    const auto origin = static_cast<int>(header.origin);
    const bool is_member = header.origin < members_;
    if (is_member && meet(origin) != Status::ok) {
        log(LogLevel::error, "out of memory for a first message of rank %d", origin);
        tell_unmet(peer);
        return false;
    }
    if (is_member && targets_[origin].peer == peer) {
        return true;
    }
    log(LogLevel::error, "a message of peer %d is dropped: rank %u of its window is another", peer,
        header.origin);
    return false;
}

void Window::receive(int from, const Message& message) noexcept
{
    const MessageHeader& header = message.header;
    if (!comes_from(from, header)) {
        return;
    }
    if (Target& origin = targets_[static_cast<int>(header.origin)]; !origin.heard) {
        origin.heard = true;
        process_.note_met(from);
    }
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
    case MessageKind::refused:
        take_answer(message);
        break;
    case MessageKind::performed:
        take_performed(header);
        break;
    case MessageKind::ask:
        owe(static_cast<int>(header.origin));
        break;
    case MessageKind::lost:
        if (header.number < members_) {
            lose(static_cast<int>(header.number));
        }
        break;
    case MessageKind::key_wanted:
        serve_key(header);
        break;
    case MessageKind::key:
        take_key(message);
        break;
    case MessageKind::barrier:
        barrier_.receive(static_cast<int>(header.origin), header.round, header.number);
        break;
    default:
        receive_word(header);
        break;
    }
}

MessageHeader Window::answer_to(const MessageHeader& asked, MessageKind kind) noexcept
{
    MessageHeader header;
    header.kind = kind;
    header.cookie = asked.cookie;
    header.position = asked.position;
    header.round = targets_[static_cast<int>(asked.origin)].longs_taken.whole();
    return header;
}

void Window::answer(const MessageHeader& asked, MessageKind kind,
                    std::span<const std::byte> payload, Status status) noexcept
{
    MessageHeader header = answer_to(asked, kind);
    header.flag = static_cast<std::uint8_t>(status);
    send(static_cast<int>(asked.origin), header, payload);
}

void Window::serve_put(const Message& message) noexcept
{
    std::byte* memory = own_memory(message.header.address, message.payload.size());
    if (memory != nullptr) {
        store_bytes(memory, message.payload.data(), message.payload.size());
    }
    count_performed(message.header, memory != nullptr ? Status::ok : Status::rma_range);
}

/// Where the payload of a long message goes. Fences wait for it, so that the memory is there.
std::byte* Window::place(int from, const MessageHeader& header, std::size_t bytes) noexcept
{
    if (!comes_from(from, header)) {
        return nullptr;
    }
    std::byte* memory = nullptr;
    if (header.kind == MessageKind::reply) {
        memory = place_reply(header, bytes);
    } else if (header.kind == MessageKind::put) {
        memory = own_memory(header.address, bytes);
        if (memory == nullptr) {
            long_taken(header);
            answer(header, MessageKind::refused, {}, Status::rma_range);
        }
    }
    if (memory != nullptr) {
        ++targets_[static_cast<int>(header.origin)].placing;
        ++placing_;
    }
    return memory;
}

void Window::placed(const MessageHeader& header, std::size_t bytes) noexcept
{
    Target& origin = targets_[static_cast<int>(header.origin)];
    if (origin.placing == 0) {
        return; // of a member that is lost
    }
    --origin.placing;
    --placing_;
    if (header.kind == MessageKind::reply) {
        placed_reply(header, bytes);
    } else {
        long_taken(header);
        answer(header, MessageKind::done_op);
    }
    update_busy();
}

void Window::serve_get(const Message& message) noexcept
{
    const MessageHeader& header = message.header;
    const std::byte* memory = own_memory(header.address, header.bytes);
    if (memory == nullptr) {
        answer(header, MessageKind::refused, {}, Status::rma_range);
    } else if (header.bytes <= piece_bytes) {
        std::array<std::byte, piece_bytes> data;
        store_bytes(data.data(), memory, header.bytes); // aligned few bytes are not torn
        answer(header, MessageKind::reply, {data.data(), header.bytes});
    } else {
        answer_long(header, {memory, header.bytes});
    }
}

void Window::answer_long(const MessageHeader& asked, std::span<const std::byte> payload) noexcept
{
    LongSend* sent = process_.long_sends_.take();
    if (sent == nullptr) {
        answer(asked, MessageKind::refused, {}, Status::no_memory);
        return;
    }
    sent->owner = &process_;
    sent->window = this; // which is not destroyed before
    sent->finished = [](fabric::Completion& self, Status) noexcept {
        auto& done = static_cast<LongSend&>(self);
        --done.window->lent_;
        done.owner->long_sends_.give_back(&done);
    };
    const MessageHeader header = answer_to(asked, MessageKind::reply);
    const Status status = send_long(static_cast<int>(asked.origin), header, payload, *sent);
    if (status == Status::ok) {
        ++lent_;
    } else {
        process_.long_sends_.give_back(sent);
        answer(asked, MessageKind::refused, {}, status);
    }
}

/// Where it brings nothing back.
void Window::answer_accumulate(const MessageHeader& header, Status status) noexcept
{
    if (header.flag == 0) {
        count_performed(header, status);
    } else {
        answer(header, MessageKind::refused, {}, status);
    }
}

void Window::serve_accumulate(const Message& message) noexcept
{
    const MessageHeader& header = message.header;
    const auto op = static_cast<ReduceOp>(header.reduce);
    const std::size_t extent = is_basic(header.basic) ? extent_of(header) : 0;
    const std::size_t expected = op == ReduceOp::no_op ? 0 : header.bytes;
    if (extent == 0 || op >= ReduceOp::count_ || message.payload.size() != expected) {
        answer_accumulate(header, Status::op);
        return;
    }
    std::byte* memory = own_memory(header.address, extent);
    if (memory == nullptr) {
        answer_accumulate(header, Status::rma_range);
        return;
    }
    const Layout& layout = datatype::basic_layout(static_cast<Basic>(header.basic));
    const Elements elements{layout, header.bytes / layout.size};
    Staging from;
    Staging old;
    const Status status = combine_here(header, elements_of(message.payload, elements, from),
                                       elements.at(old.bytes.data()), elements.at(memory));
    if (status != Status::ok || header.flag == 0) {
        answer_accumulate(header, status);
    } else if (layout.contiguous) {
        answer(header, MessageKind::reply, {old.bytes.data(), header.bytes});
    } else {
        Staging packed;
        const std::size_t bytes = pack(elements.at(old.bytes.data()), packed.bytes.data());
        answer(header, MessageKind::reply, {packed.bytes.data(), bytes});
    }
}

Status Window::combine_here(const MessageHeader& header, const Buffer& from, const Buffer& old,
                            const Buffer& memory) noexcept
{
    const auto op = static_cast<ReduceOp>(header.reduce);
    return accumulate_here(op, rank_, from, header.flag == 0 ? Buffer{} : old, memory);
}

void Window::serve_compare_and_swap(const Message& message) noexcept
{
    const MessageHeader& header = message.header;
    const auto basic = static_cast<Basic>(header.basic);
    const bool fits = is_basic(header.basic) && can_compare_and_swap(basic) &&
                      header.bytes == datatype::shape_of(basic).size &&
                      message.payload.size() == 2 * header.bytes;
    std::byte* memory = fits ? own_memory(header.address, header.bytes) : nullptr;
    if (memory == nullptr) {
        answer(header, MessageKind::refused, {}, fits ? Status::rma_range : Status::type);
        return;
    }
    Staging compare;
    Staging origin;
    Staging old;
    store_bytes(compare.bytes.data(), message.payload.data(), header.bytes);
    store_bytes(origin.bytes.data(), message.payload.data() + header.bytes, header.bytes);
    const Status status =
        compare_and_swap_here(rank_, origin.bytes.data(), compare.bytes.data(), old.bytes.data(),
                              &datatype::basic_layout(basic), memory);
    if (status != Status::ok) {
        answer(header, MessageKind::refused, {}, status);
    } else {
        answer(header, MessageKind::reply, {old.bytes.data(), header.bytes});
    }
}

} // namespace sidelight::rma
