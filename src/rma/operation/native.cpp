// SPDX-License-Identifier: BSD-3-Clause
#include "rma/operation/native.hpp"

#include <algorithm>
#include <array>
#include <new>

#include "base/cpu.hpp"
#include "base/log.hpp"
#include "rma/channel/order.hpp"

namespace sidelight::rma {

using datatype::Cursor;
using fabric::Access;
using fabric::AccessPiece;
using fabric::RemoteMemory;

namespace {

/// The road of one that the fabric takes. Another put may follow where all of it is with the
/// fabric.
Road road_of(const Operation& operation, bool whole) noexcept
{
    return operation.kind == OperationKind::put && whole ? Road::native_put : Road::native;
}

/// Whether an ordered operation may go this way now, behind those that do already. Else it goes by
/// messages, in its turn.
bool may_start_here(const Operation& operation, const Channel& channel,
                    RemoteMemory& memory) noexcept
{
    if (memory.moves_at_once()) {
        return may_start(channel, Road::at_once);
    }
    return may_start(channel, road_of(operation, true)) &&
           (channel.in_order == 0 || memory.fence());
}

/// Whether both sides are one block that begins at the address.
bool is_block(const Operation& operation) noexcept
{
    return operation.layout->contiguous && operation.origin.layout->contiguous;
}

/// Whether it is worth the fabric's while to move each piece by itself.
bool has_large_pieces(const Operation& operation, const RemoteMemory& memory) noexcept
{
    const std::size_t most = memory.most_worthwhile_pieces(operation.origin.bytes());
    return most == SIZE_MAX ||
           (datatype::blocks(operation.origin, most) <= most &&
            datatype::blocks({nullptr, operation.layout, operation.count}, most) <= most);
}

/// Whether it may go where no message follows it: the target's counters, if it is to raise one, lie
/// in memory of this node.
bool may_notify(const Operation& operation, const Target& target) noexcept
{
    return !notifies(operation) || target.accumulates != nullptr;
}

Access move(RemoteMemory& memory, const Operation& operation, std::span<const AccessPiece> pieces,
            fabric::Completion& done) noexcept
{
    return operation.kind == OperationKind::put ? memory.put(pieces, done)
                                                : memory.get(pieces, done);
}

} // namespace

NativeAccesses::~NativeAccesses()
{
    opened_.clear();
    if (exposed_ != nullptr) {
        channels_.carrier().fabric().conceal(*exposed_);
    }
}

/// In a dynamic window an operation that lies in one region may go this way, but for one by a
/// memory handle, which may name what is attached, too, and no more once it is released. One that
/// the fabric performs elsewhere has been checked here, because nobody looks there.
NativeAccesses::Reached NativeAccesses::reach(const Operation& operation, Target& target,
                                              Channel& channel,
                                              const Destination& destination) noexcept
{
    if (memory_.is_dynamic() && target.accumulates == nullptr) {
        if (operation.region != nullptr) {
            return {};
        }
        const datatype::Extent touched = datatype::touched(*operation.layout, operation.count);
        const AddressRange wanted{destination.address + static_cast<std::uint64_t>(touched.first),
                                  destination.address + static_cast<std::uint64_t>(touched.last)};
        OpenRegion* region = open_regions_.find(channel, wanted);
        return region == nullptr ? Reached{}
                                 : Reached{.memory = region->memory.get(),
                                           .offset = destination.address - region->range.first,
                                           .region = region};
    }
    if (destination.checked && target.remote == nullptr) {
        ask_for_key(target, channel);
    }
    return {.memory = destination.checked ? target.remote : nullptr, .offset = destination.address};
}

bool NativeAccesses::start(Op& op, Target& target, Channel& channel, const Destination& destination,
                           bool alone) noexcept
{
    const Operation& operation = op.operation;
    if (!moves_bytes(operation) || !may_notify(operation, target)) {
        return false;
    }
    const Reached reached = reach(operation, target, channel, destination);
    if (reached.memory == nullptr ||
        !reached.memory->is_worthwhile(operation.origin.bytes(), alone) ||
        !has_large_pieces(operation, *reached.memory) ||
        (operation.ordered && !may_start_here(operation, channel, *reached.memory))) {
        return false;
    }
    RemoteAccess* access = pool_.take();
    if (access == nullptr) {
        return false;
    }
    access->owner = this;
    access->op = &op;
    access->target = &target;
    access->channel = &channel;
    access->address = destination.address;
    access->memory = reached.memory;
    access->region = reached.region;
    access->finished = finished;
    access->left = left;
    access->there =
        Cursor({reinterpret_cast<void*>(reached.offset), operation.layout, operation.count});
    access->here = Cursor(operation.origin);
    if (reached.region != nullptr) {
        ++reached.region->pending;
    }
    const Access state = move_more(*access);
    if (state == Access::pending || state == Access::left) {
        if (operation.ordered) {
            join_order(op, channel, road_of(operation, access->there.at_end()));
        }
        channels_.carrier().note_sent();
        if (state == Access::left) {
            left(*access);
        }
        return true;
    }
    give_back(*access);
    if (state == Access::failed) {
        return false;
    }
    full_barrier(); // as after what is stored into mapped memory
    life_.end(op, Status::ok);
    return true;
}

void NativeAccesses::give_back(RemoteAccess& access) noexcept
{
    if (access.region != nullptr) {
        OpenRegions::leave(*access.region);
    }
    pool_.give_back(&access);
}

bool NativeAccesses::move_at_once(const Operation& operation, const Target& target,
                                  Destination& destination, bool alone) noexcept
{
    if (target.remote == nullptr || !target.remote->moves_at_once() || !destination.checked ||
        !moves_bytes(operation) || !is_block(operation) || !may_notify(operation, target) ||
        !target.remote->is_worthwhile(operation.origin.bytes(), alone)) {
        return false;
    }
    const AccessPiece block{.here = static_cast<std::byte*>(operation.origin.address),
                            .there = destination.address,
                            .bytes = operation.origin.bytes()};
    fabric::Completion unused;
    destination.checked = move(*target.remote, operation, {&block, 1}, unused) == Access::complete;
    return destination.checked;
}

/// Hands the fabric what is left, as far as it does not take time.
Access NativeAccesses::move_more(RemoteAccess& access) noexcept
{
    Access state = Access::complete;
    while (state == Access::complete && !access.there.at_end()) {
        std::array<AccessPiece, RemoteMemory::most_pieces> pieces;
        std::size_t count = 0;
        for (; count < pieces.size() && !access.there.at_end(); ++count) {
            const datatype::Piece there = access.there.piece();
            const datatype::Piece here = access.here.piece();
            const std::size_t bytes = std::min(there.length, here.length);
            pieces[count] = {.here = here.address,
                             .there = reinterpret_cast<std::uintptr_t>(there.address),
                             .bytes = bytes};
            access.there.advance(bytes);
            access.here.advance(bytes);
        }
        state = move(*access.memory, access.op->operation, std::span(pieces).first(count), access);
    }
    return state;
}

/// Nothing of its origin is read any more, if the fabric has all of it.
void NativeAccesses::left(fabric::Completion& self) noexcept
{
    const auto& access = static_cast<RemoteAccess&>(self);
    if (access.there.at_end()) {
        access.owner->life_.left(*access.op);
    }
}

/// The fabric has moved what it was given last. Where it could not, messages do, or the target is
/// lost and they know.
void NativeAccesses::finished(fabric::Completion& self, Status status) noexcept
{
    auto& access = static_cast<RemoteAccess&>(self);
    NativeAccesses& owner = *access.owner;
    Op& op = *access.op;
    Channel& channel = *access.channel;
    const std::size_t address = access.address;
    const Access state = status == Status::ok ? move_more(access) : Access::failed;
    if (state == Access::pending || state == Access::left) {
        owner.channels_.carrier().note_sent();
        if (state == Access::left) {
            left(self);
        }
        return;
    }
    const bool is_lost = access.target->lost;
    const bool has_left = op.state == OperationState::local; // what it read may be another's now
    owner.give_back(access);
    if (state == Access::failed && !is_lost && !has_left) {
        owner.origin_.launch_again(op, channel, address);
        return;
    }
    owner.life_.end(op, state == Access::failed ? Status::lost : Status::ok);
    if (!channel.leaving.empty()) {
        owner.origin_.launch_more(channel);
    }
}

/// Asks for the key at the first operation that can use it; until it has come, messages go. For a
/// neighbour the kernel copies, or nobody does: its notices are written by the processor, which
/// waits for no network.
void NativeAccesses::ask_for_key(Target& target, Channel& channel) noexcept
{
    if (target.key != KeyState::unknown || memory_.is_dynamic() || target.accumulates != nullptr ||
        !channels_.carrier().fabric().accesses(target.peer)) {
        return;
    }
    target.key = KeyState::asked;
    channels_.send(channel, MessageKind::key_request);
}

/// Exposes this member's memory when the first one asks.
void NativeAccesses::serve_key(Channel& from) noexcept
{
    if (exposed_ == nullptr && !memory_.is_dynamic() && memory_.size() != 0) {
        exposed_.reset(new (std::nothrow) fabric::ExposedMemory);
        if (exposed_ != nullptr &&
            !channels_.carrier().fabric().expose({memory_.base(), memory_.size()}, *exposed_)) {
            exposed_->key_bytes = 0;
        }
    }
    const std::size_t bytes = exposed_ != nullptr ? exposed_->key_bytes : 0;
    channels_.send(from, MessageKind::key, NoBody{},
                   bytes != 0 ? std::span<const std::byte>(exposed_->key).first(bytes)
                              : std::span<const std::byte>());
}

void NativeAccesses::take_key(Channel& from, Target& target,
                              std::span<const std::byte> key) noexcept
{
    if (target.key != KeyState::asked) {
        return;
    }
    target.key = KeyState::settled;
    if (key.empty()) {
        return;
    }
    try {
        opened_.push_back(channels_.carrier().fabric().open(target.peer, key));
        target.remote = opened_.back().get();
    } catch (const std::bad_alloc&) {
        log(LogLevel::warn, "out of memory: rank %d is reached by messages", from.rank);
    }
}

} // namespace sidelight::rma
