// SPDX-License-Identifier: BSD-3-Clause
#include "rma/operation/active_here.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <new>

#include "base/cpu.hpp"
#include "rma/active/rules.hpp"
#include "rma/region/handle_region.hpp"

namespace sidelight::rma {

namespace {

/// Temporary memory of a thread that runs handlers: a little of its own, more where one needs it.
class Room {
public:
    [[nodiscard]] std::byte* of(std::size_t bytes) noexcept
    {
        if (bytes <= small_.size()) {
            return small_.data();
        }
        if (bytes > bytes_) {
            large_.reset(new (std::nothrow) std::byte[bytes]);
            bytes_ = large_ != nullptr ? bytes : 0;
        }
        return large_.get();
    }

private:
    alignas(64) std::array<std::byte, 2048> small_;
    std::unique_ptr<std::byte[]> large_;
    std::size_t bytes_ = 0;
};

/// By the name alone: regions have names in dynamic windows, where all that waits here is to this
/// process itself.
bool is_about(const ActiveMessage& message, RegionName name) noexcept
{
    const HandleRegion* region = message.op->operation.region;
    return region != nullptr && region->name == name;
}

} // namespace

void ActiveHere::launch(Op& op, std::byte* memory, std::size_t room) noexcept
{
    ActiveMessage& message = *op.message;
    message.memory = memory;
    if (room_of(message.call, 1).bytes > room) {
        life_.end(op, Status::buffer);
        return;
    }
    message.handler = handlers_[message.call.handler];
    waiting_.push(&message);
    attention_.set(Reason::active_there, true);
}

/// Those before it towards the same member whose order it keeps have run.
bool ActiveHere::has_turn(const ActiveMessage& message) const noexcept
{
    for (const ActiveMessage* earlier = waiting_.front(); earlier != &message;
         earlier = Waiting::after(*earlier)) {
        if (earlier->op->operation.target == message.op->operation.target &&
            message.keeps_order_with(*earlier)) {
            return false;
        }
    }
    return true;
}

ActiveMessage* ActiveHere::take() noexcept
{
    int looked_at = 0;
    for (ActiveMessage* message = waiting_.front();
         message != nullptr && looked_at < most_active_looked_at;
         message = Waiting::after(*message), ++looked_at) {
        if (message->running || !has_turn(*message)) {
            continue;
        }
        message->hold = exclusion_.try_enter(message->op->operation.target,
                                             message->call.concurrent, message->refused++);
        if (message->hold) {
            message->running = true;
            channels_.begin_reading();
            return message;
        }
    }
    return nullptr;
}

void ActiveHere::run(ActiveMessage& message, ActiveCaller& caller) const noexcept
{
    const Operation& operation = message.op->operation;
    const ActiveCall& call = message.call;
    const std::size_t most = std::max(limits_.internal_bytes, room_of(call, 1).bytes);
    Room memory;
    for (std::uint64_t first = 0, number = 0; first < call.segments; first += number) {
        number = segments_in(call, most, std::min(call.segments - first, limits_.unit));
        const ActiveRoom room = room_of(call, number);
        std::byte* place = memory.of(room.bytes);
        if (place == nullptr) {
            message.failed_here = true;
            return;
        }
        fill_image(operation.origin, first, number, call.input, room.input, place);
        std::byte* output = place + room.output_at;
        std::fill_n(output, room.output.bytes, std::byte{0});
        full_barrier();
        caller.call({.handler = message.handler,
                     .input = place + room.input.start,
                     .input_count = call.input.count,
                     .input_type = call.input.type,
                     .persistent = message.memory,
                     .persistent_count = operation.count,
                     .persistent_type = call.persistent_type,
                     .output = output + room.output.start,
                     .output_count = call.output.count,
                     .output_type = call.output.type,
                     .segments = number,
                     .offset = first});
        full_barrier();
        if (operation.result.layout != nullptr) {
            take_image(operation.result, first, number, call.output, room.output, output);
        }
    }
}

void ActiveHere::finish(ActiveMessage& message) noexcept
{
    Exclusion::leave(message.hold);
    channels_.end_reading();
    end(message, message.failed_here ? Status::no_memory : Status::ok);
}

void ActiveHere::end(ActiveMessage& message, Status status) noexcept
{
    waiting_.remove(&message);
    attention_.set(Reason::active_there, !waiting_.empty());
    life_.end(*message.op, status);
}

/// Those of the wanted ones that do not run.
template <class Wanted>
void ActiveHere::end_if(Wanted wanted, Status status) noexcept
{
    waiting_.for_each([&](ActiveMessage& message) {
        if (!message.running && wanted(message)) {
            end(message, status);
        }
    });
}

void ActiveHere::refuse_region(RegionName name) noexcept
{
    end_if([&](const ActiveMessage& message) { return is_about(message, name); },
           Status::rma_range);
}

bool ActiveHere::runs_in(RegionName name) const noexcept
{
    for (const ActiveMessage* message = waiting_.front(); message != nullptr;
         message = Waiting::after(*message)) {
        if (is_about(*message, name) && message->running) {
            return true;
        }
    }
    return false;
}

void ActiveHere::abandon(int rank) noexcept
{
    end_if([&](const ActiveMessage& message) { return message.op->operation.target == rank; },
           Status::lost);
}

} // namespace sidelight::rma
