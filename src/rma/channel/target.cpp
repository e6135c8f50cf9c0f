// SPDX-License-Identifier: BSD-3-Clause
#include "rma/channel/target.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "base/bytes.hpp"
#include "datatype/basic_layout.hpp"

namespace sidelight::rma {

using datatype::Basic;
using datatype::Buffer;
using datatype::Layout;

namespace {

/// For elements that are aligned as a reduction wants them. Those with holes travel without them,
/// one in a message.
struct alignas(64) Staging {
    std::array<std::byte, fragment_bytes> bytes;
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

/// How far the elements of a message reach, from the first byte to the last one that is theirs; 0
/// for what is no number of them, or for more than a message may be about.
std::size_t reach_of(const AccumulateBody& body) noexcept
{
    if (!is_basic(body.basic)) {
        return 0;
    }
    const auto basic = static_cast<Basic>(body.basic);
    const datatype::BasicShape shape = datatype::shape_of(basic);
    const bool whole = body.bytes != 0 && body.bytes <= fragment_bytes &&
                       body.bytes % shape.size == 0 &&
                       (!shape.has_holes() || body.bytes == shape.size);
    const auto last = static_cast<std::size_t>(datatype::basic_layout(basic).true_ub);
    return whole ? (body.bytes / shape.size - 1) * shape.extent + last : 0;
}

} // namespace

void TargetSide::performed(Channel& from, std::uint64_t operation, bool acknowledge,
                           Status status) noexcept
{
    if (status != Status::ok) {
        refuse(from, operation, status, true);
    }
    ++from.fragments_taken;
    if (acknowledge) {
        credit_.owe(from);
    }
}

/// A fragment was not performed. `counted`: it has no answer of its own, and acknowledgements count
/// it.
void TargetSide::refuse(Channel& from, std::uint64_t operation, Status status,
                        bool counted) noexcept
{
    from.refused = operation;
    channels_.send(from, MessageKind::refused,
                   RefusedBody{.operation = operation,
                               .placed = from.zero_copies_taken.whole(),
                               .status = static_cast<std::uint8_t>(status),
                               .acknowledged = static_cast<std::uint8_t>(counted)});
}

void TargetSide::reply(Channel& from, std::uint64_t operation, std::uint64_t position,
                       std::span<const std::byte> data) noexcept
{
    channels_.send(from, MessageKind::reply,
                   ReplyBody{.operation = operation,
                             .position = position,
                             .placed = from.zero_copies_taken.whole()},
                   data);
}

void TargetSide::serve_put(Channel& from, const PutBody& body,
                           std::span<const std::byte> payload) noexcept
{
    std::byte* memory = memory_.find(body.address, payload.size(), body.region);
    if (memory != nullptr) {
        std::atomic_thread_fence(std::memory_order_release); // who sees it sees what came before
        store_bytes(memory, payload.data(), payload.size());
    }
    performed(from, body.operation, body.acknowledge != 0,
              memory != nullptr ? Status::ok : Status::rma_range);
}

void TargetSide::serve_put(Channel& from, const PutScatteredBody& body,
                           std::span<const std::byte> payload) noexcept
{
    Status status = scattered_.find(payload, body.entries, memory_, body.put.region);
    const std::span<const std::byte> data = scattered_.data_behind(payload, body.entries);
    if (status == Status::ok && data.size() != scattered_.bytes()) {
        status = Status::count;
    }
    if (status == Status::ok) {
        std::atomic_thread_fence(std::memory_order_release); // who sees it sees what came before
        unpack(data, scattered_.buffer());
    }
    performed(from, body.put.operation, body.put.acknowledge != 0, status);
}

std::byte* TargetSide::place_put(Channel& from, const PutBody& body, std::size_t bytes) noexcept
{
    std::byte* memory = memory_.find(body.address, bytes, body.region);
    if (memory == nullptr) {
        from.refused = body.operation; // its notification may be here, and wait for this put
        channels_.zero_copy_taken(from, body.zero_copy);
        refuse(from, body.operation, Status::rma_range);
    } else {
        memory_.begin_use(body.region, from.rank);
    }
    return memory;
}

void TargetSide::put_placed(Channel& from, const PutBody& body) noexcept
{
    memory_.end_use(body.region, from.rank);
    channels_.zero_copy_taken(from, body.zero_copy);
    channels_.send(
        from, MessageKind::placed,
        PlacedBody{.operation = body.operation, .placed = from.zero_copies_taken.whole()});
}

void TargetSide::end_uses(const Channel& channel) noexcept { memory_.end_uses_of(channel.rank); }

void TargetSide::serve_get(Channel& from, const GetBody& body) noexcept
{
    const std::byte* memory = memory_.find(body.address, body.bytes, body.region);
    if (memory == nullptr) {
        refuse(from, body.operation, Status::rma_range);
    } else if (body.bytes <= fragment_bytes) {
        std::array<std::byte, fragment_bytes> data;
        store_bytes(data.data(), memory, body.bytes); // aligned few bytes are not torn
        reply(from, body.operation, body.position, {data.data(), body.bytes});
    } else {
        reply_zero_copy(from, body, {memory, body.bytes});
    }
}

void TargetSide::serve_get(Channel& from, const GetScatteredBody& body,
                           std::span<const std::byte> payload) noexcept
{
    Status status = scattered_.find(payload, body.entries, memory_, body.get.region);
    if (status == Status::ok && scattered_.bytes() != body.get.bytes) {
        status = Status::count;
    }
    if (status != Status::ok) {
        refuse(from, body.get.operation, status);
        return;
    }
    std::array<std::byte, fragment_bytes> data;
    const std::size_t bytes = pack(scattered_.buffer(), data.data());
    reply(from, body.get.operation, body.get.position, {data.data(), bytes});
}

void TargetSide::reply_zero_copy(Channel& from, const GetBody& body,
                                 std::span<const std::byte> data) noexcept
{
    Pool<ZeroCopySend>& sends = channels_.carrier().zero_copy_sends();
    ZeroCopySend* sent = sends.take();
    if (sent == nullptr) {
        refuse(from, body.operation, Status::no_memory);
        return;
    }
    sent->channels = &channels_;
    sent->flight = nullptr;
    sent->memory = &memory_;
    sent->region = body.region;
    sent->finished = [](fabric::Completion& self, Status) noexcept {
        auto& done = static_cast<ZeroCopySend&>(self);
        done.memory->end_use(done.region);
        done.channels->end_reading();
        done.channels->carrier().zero_copy_sends().give_back(&done);
    };
    channels_.begin_reading();
    memory_.begin_use(body.region);
    const ReplyBody answer{.operation = body.operation,
                           .position = body.position,
                           .placed = from.zero_copies_taken.whole()};
    const Status status = channels_.send_zero_copy(from, MessageKind::reply, answer, data, *sent);
    if (status == Status::ok) {
        channels_.carrier().note_sent(); // its receiver may sleep
    } else {
        memory_.end_use(body.region);
        channels_.end_reading();
        sends.give_back(sent);
        refuse(from, body.operation, status);
    }
}

/// Where it was not performed, or brings nothing back.
void TargetSide::end_accumulate(Channel& from, const AccumulateBody& body, Status status) noexcept
{
    if (body.fetch == 0) {
        performed(from, body.operation, body.acknowledge != 0, status);
    } else {
        refuse(from, body.operation, status);
    }
}

void TargetSide::serve_accumulate(Channel& from, const AccumulateBody& body,
                                  std::span<const std::byte> payload) noexcept
{
    const auto op = static_cast<ReduceOp>(body.reduce);
    const std::size_t reach = reach_of(body);
    const std::size_t expected = op == ReduceOp::no_op ? 0 : body.bytes;
    if (reach == 0 || op >= ReduceOp::count_ || payload.size() != expected) {
        end_accumulate(from, body, Status::op);
        return;
    }
    std::byte* memory = memory_.find(body.address, reach, body.region);
    if (memory == nullptr) {
        end_accumulate(from, body, Status::rma_range);
        return;
    }
    const Layout& layout = datatype::basic_layout(static_cast<Basic>(body.basic));
    combine(from, body, payload, {memory, &layout, body.bytes / layout.size});
}

void TargetSide::serve_accumulate(Channel& from, const AccumulateScatteredBody& body,
                                  std::span<const std::byte> payload) noexcept
{
    const AccumulateBody& accumulate = body.accumulate;
    const auto op = static_cast<ReduceOp>(accumulate.reduce);
    Status status = Status::op;
    if (reach_of(accumulate) != 0 && op < ReduceOp::count_) {
        status = scattered_.find(payload, body.entries, memory_, accumulate.region,
                                 static_cast<Basic>(accumulate.basic));
    }
    const std::span<const std::byte> data = scattered_.data_behind(payload, body.entries);
    const std::size_t expected = op == ReduceOp::no_op ? 0 : accumulate.bytes;
    if (status == Status::ok &&
        (scattered_.bytes() != accumulate.bytes || data.size() != expected)) {
        status = Status::op;
    }
    if (status == Status::ok) {
        combine(from, accumulate, data, scattered_.buffer());
    } else {
        end_accumulate(from, accumulate, status);
    }
}

void TargetSide::combine(Channel& from, const AccumulateBody& body,
                         std::span<const std::byte> payload, const Buffer& memory) noexcept
{
    const auto op = static_cast<ReduceOp>(body.reduce);
    const Layout& layout = datatype::basic_layout(static_cast<Basic>(body.basic));
    const Elements elements{layout, body.bytes / layout.size};
    Staging brought;
    Staging old;
    const Buffer fetched = body.fetch != 0 ? elements.at(old.bytes.data()) : Buffer{};
    const Status status =
        accumulates_.accumulate(op, own_, elements_of(payload, elements, brought), fetched, memory);
    if (status != Status::ok || body.fetch == 0) {
        end_accumulate(from, body, status);
    } else if (layout.contiguous) {
        reply(from, body.operation, body.position, {old.bytes.data(), body.bytes});
    } else {
        Staging packed;
        const std::size_t bytes = pack(elements.at(old.bytes.data()), packed.bytes.data());
        reply(from, body.operation, body.position, {packed.bytes.data(), bytes});
    }
}

void TargetSide::serve_compare_and_swap(Channel& from, const CompareAndSwapBody& body,
                                        std::span<const std::byte> payload) noexcept
{
    const auto basic = static_cast<Basic>(body.basic);
    const bool known = is_basic(body.basic) && can_compare_and_swap(basic);
    const std::size_t size = known ? datatype::shape_of(basic).size : 0;
    const bool fits = known && payload.size() == 2 * size;
    std::byte* memory = fits ? memory_.find(body.address, size, body.region) : nullptr;
    if (memory == nullptr) {
        refuse(from, body.operation, fits ? Status::rma_range : Status::type);
        return;
    }
    Staging compare;
    Staging origin;
    Staging old;
    store_bytes(compare.bytes.data(), payload.data(), size);
    store_bytes(origin.bytes.data(), payload.data() + size, size);
    const Status status =
        accumulates_.compare_and_swap(own_, origin.bytes.data(), compare.bytes.data(),
                                      old.bytes.data(), &datatype::basic_layout(basic), memory);
    if (status != Status::ok) {
        refuse(from, body.operation, status);
    } else {
        reply(from, body.operation, 0, {old.bytes.data(), size});
    }
}

} // namespace sidelight::rma
