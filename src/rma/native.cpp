// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include "base/cpu.hpp"
#include "rma/process.hpp"
#include "rma/window.hpp"

/// The native route: puts and gets that the fabric performs on the target's memory, without the
/// target's engine. See docs/design/native-road.md.
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

} // namespace

/// Whether the fabric has taken it over; it may be complete, and gone. What is not taken goes by
/// messages.
bool Window::access(Op& op, const Place& place) noexcept
{
    const Operation& operation = op.operation;
    const Target& target = targets_[operation.target];
    if (target.remote == nullptr || !place.checked || !moves_bytes(operation) ||
        operation.origin.bytes() < target.remote->worthwhile()) {
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
    const Access state = access_more(*access);
    if (state == Access::pending) {
        targets_[operation.target].flushable.store(false, std::memory_order_release);
        return true;
    }
    process_.remote_accesses_.give_back(access);
    if (state == Access::failed) {
        return false;
    }
    full_barrier(); // as after what is stored into mapped memory
    local_complete(op);
    remote_complete(op);
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

/// The fabric has moved what it was given last. Where it could not, the target is lost.
void Window::access_finished(fabric::Completion& self, Status status) noexcept
{
    auto& access = static_cast<RemoteAccess&>(self);
    Window& window = *access.window;
    Op& op = *access.op;
    const Access state = status == Status::ok ? window.access_more(access) : Access::complete;
    if (state == Access::pending) {
        return;
    }
    access.owner->remote_accesses_.give_back(&access);
    if (state == Access::failed) {
        window.launch(op);
        return;
    }
    if (status != Status::ok) {
        window.note_failure(op, Status::lost);
    }
    window.local_complete(op);
    window.remote_complete(op);
}

} // namespace sidelight::rma
