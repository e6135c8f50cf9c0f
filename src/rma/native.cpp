// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <new>

#include "base/cpu.hpp"
#include "base/log.hpp"
#include "rma/process.hpp"
#include "rma/window.hpp"

/// The native route: puts and gets that the fabric performs on the target's memory, without the
/// target's engine. See docs/design/native-route.md.
namespace sidelight::rma {

using datatype::Cursor;
using fabric::Access;
using fabric::AccessPiece;
using fabric::RemoteMemory;

namespace {

bool moves_bytes(const Operation& operation) noexcept
{
    return operation.kind == OperationKind::put || operation.kind == OperationKind::get;
}

/// Whether both sides are one block that begins at the address.
bool is_block(const Operation& operation) noexcept
{
    return operation.layout->contiguous && operation.origin.layout->contiguous;
}

} // namespace

/// Whether the fabric has taken it over; it may be complete, and gone. What is not taken goes by
/// messages.
bool Window::access(Op& op, const Place& place) noexcept
{
    const Operation& operation = op.operation;
    Target& target = targets_[operation.target];
    if (!place.checked || !moves_bytes(operation)) {
        return false;
    }
    if (target.remote == nullptr) {
        want_key(target, operation.target);
        return false;
    }
    const bool alone = rules::is_first_since_wait(op.age, waited_for_);
    if (!target.remote->is_worthwhile(operation.origin.bytes(), alone)) {
        return false;
    }
    RemoteAccess* access = process_.remote_accesses_.take();
    if (access == nullptr) {
        return false;
    }
    access->owner = &process_;
    access->window = this;
    access->op = &op;
    access->finished = access_finished;
    access->there =
        Cursor({reinterpret_cast<void*>(place.address), operation.layout, operation.count});
    access->here = Cursor(operation.origin);
    target.flushable.store(false, std::memory_order_release); // flushes tell `waited_for_`
    const Access state = access_more(*access);
    if (state == Access::pending) {
        process_.note_sent();
        return true;
    }
    process_.remote_accesses_.give_back(access);
    if (state == Access::failed) {
        return false;
    }
    full_barrier(); // as after what is stored into mapped memory
    end_op(op, Status::ok);
    return true;
}

/// A block that the fabric moves within the call is complete on return, as on mapped memory:
/// nothing is recorded for it, and the epoch need not be there.
bool Window::access_at_once(const Operation& operation, Place& place) noexcept
{
    Target& target = targets_[operation.target];
    if (target.remote == nullptr || !target.remote->moves_at_once() || !place.checked ||
        !moves_bytes(operation) || !is_block(operation)) {
        return false;
    }
    const std::size_t bytes = operation.origin.bytes();
    if (!target.remote->is_worthwhile(bytes, rules::is_first_since_wait(ages_ + 1, waited_for_))) {
        return false;
    }
    const AccessPiece piece{.here = static_cast<std::byte*>(operation.origin.address),
                            .there = place.address,
                            .bytes = bytes};
    fabric::Completion unused;
    const Access state = operation.kind == OperationKind::put
                             ? target.remote->put({&piece, 1}, unused)
                             : target.remote->get({&piece, 1}, unused);
    if (state != Access::complete) {
        place.checked = false;
        return false;
    }
    ++ages_;
    target.flushable.store(false, std::memory_order_release); // flushes tell `waited_for_`
    unfenced_.store(true, relaxed);
    return true;
}

/// Hands the fabric what is left, as far as it does not take time.
Access Window::access_more(RemoteAccess& access) noexcept
{
    const Operation& operation = access.op->operation;
    RemoteMemory& memory = *targets_[operation.target].remote;
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
        const std::span<const AccessPiece> all = std::span(pieces).first(count);
        state = operation.kind == OperationKind::put ? memory.put(all, access)
                                                     : memory.get(all, access);
    }
    return state;
}

/// The fabric has moved what it was given last. Where it could not, messages do, or the target is
/// lost and they know.
void Window::access_finished(fabric::Completion& self, Status status) noexcept
{
    auto& access = static_cast<RemoteAccess&>(self);
    Window& window = *access.window;
    Process& process = *access.owner;
    Op& op = *access.op;
    const Access state = status == Status::ok ? window.access_more(access) : Access::failed;
    if (state == Access::pending) {
        process.note_sent();
        return;
    }
    process.remote_accesses_.give_back(&access);
    const bool is_lost = window.targets_[op.operation.target].lost;
    if (state == Access::failed && !is_lost) {
        window.launch(op);
        return;
    }
    window.end_op(op, state == Access::failed ? Status::lost : Status::ok);
}

/// Asks for the key at the first operation that can use it; until it has come, messages go. For a
/// neighbour the kernel copies, or nobody does: its words are written by the processor, which waits
/// for no network.
void Window::want_key(Target& target, int rank) noexcept
{
    if (target.key != KeyState::unknown || flavor_ == Flavor::dynamic ||
        target.control != nullptr || !process_.fabric_.accesses(target.peer)) {
        return;
    }
    target.key = KeyState::asked;
    MessageHeader header;
    header.kind = MessageKind::key_wanted;
    send(rank, header);
}

/// Exposes this member's memory when the first one asks.
void Window::serve_key(const MessageHeader& header) noexcept
{
    const Target& own = targets_[rank_];
    if (exposed_ == nullptr && flavor_ != Flavor::dynamic && own.size != 0) {
        exposed_.reset(new (std::nothrow) fabric::ExposedMemory);
        if (exposed_ != nullptr && !process_.fabric_.expose({own.base, own.size}, *exposed_)) {
            exposed_->key_bytes = 0;
        }
    }
    MessageHeader answer;
    answer.kind = MessageKind::key;
    const std::size_t bytes = exposed_ != nullptr ? exposed_->key_bytes : 0;
    send(static_cast<int>(header.origin), answer,
         bytes != 0 ? std::span<const std::byte>(exposed_->key).first(bytes)
                    : std::span<const std::byte>());
}

void Window::take_key(const Message& message) noexcept
{
    Target& target = targets_[static_cast<int>(message.header.origin)];
    if (target.key != KeyState::asked) {
        return;
    }
    target.key = KeyState::settled;
    if (message.payload.empty()) {
        return;
    }
    try {
        opened_.push_back(process_.fabric_.open(target.peer, message.payload));
        target.remote = opened_.back().get();
    } catch (const std::bad_alloc&) {
        log(LogLevel::warn, "out of memory: rank %u is reached by messages", message.header.origin);
    }
}

/// For people: by which roads the members were reached that were met.
void Window::log_roads() const noexcept
{
    std::size_t mapped = 0;
    std::size_t native = 0;
    for (const std::int32_t rank : met_) {
        mapped += targets_[rank].mapped ? 1 : 0;
        native += targets_[rank].remote != nullptr ? 1 : 0;
    }
    log(LogLevel::info,
        "window %llx, rank %d of %u: of %zu members met, %zu are mapped, %zu native, the others "
        "reached by messages",
        static_cast<unsigned long long>(id_), rank_, members_, met_.size(), mapped, native);
}

} // namespace sidelight::rma
