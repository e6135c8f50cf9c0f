// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/recording.hpp"

#include <new>

#include "rma/operation/kept_data.hpp"

namespace sidelight::rma {

Status Recording::find(int target, PeerEpochRef& where) noexcept
{
    where = open_.find(with_.contacts, target);
    if (!where) {
        return Status::rma_sync;
    }
    return where.known() ? Status::ok : queue_.add_peer(*where.epoch, target);
}

/// Only a passive target hears of single operations, and only locks of the parent serve those by a
/// memory handle (P2, section 4.2).
Status Recording::may_issue(const Epoch& epoch, const Operation& operation) noexcept
{
    if (epoch.failed_for_all()) {
        return epoch.failure;
    }
    if ((operation.region != nullptr || notifies(operation)) && !epoch.passive()) {
        return Status::rma_sync;
    }
    return notifies(operation)
               ? with_.notifications.check(operation.target,
                                           static_cast<std::uint32_t>(operation.notification))
               : Status::ok;
}

Status Recording::issue(PeerEpochRef where, const Operation& operation, Request* request) noexcept
{
    const bool granted = queue_.is_granted(*where.epoch, where.peer());
    Status status = may_issue(*where.epoch, operation);
    if (status != Status::ok) {
        return status;
    }
    Destination destination;
    if (status = with_.operations.prepare(operation, granted, destination); status != Status::ok) {
        return status;
    }
    if (where.epoch->kind == EpochKind::fence) {
        with_.mapped.set_fence_used(true);
    }
    if (operation.active != nullptr && operation.active->segments == 0) {
        return end_empty(operation, request);
    }
    bool done = false;
    if (granted && where.peer().lets_begin()) {
        status = with_.operations.perform_at_once(operation, destination, done);
    }
    if (!done) {
        return status == Status::ok ? record(where, operation, destination, request) : status;
    }
    if (status == Status::ok && notifies(operation)) {
        with_.notifications.raise(operation.target,
                                  static_cast<std::uint32_t>(operation.notification));
    }
    if (!destination.mapped) { // by the fabric: flushes say that it was waited for
        where.peer().to_be_flushed = true;
        show(with_, *where.epoch, where.peer());
    }
    if (status == Status::ok && request != nullptr) {
        if (operation.request_scope == FlushScope::remote) {
            with_.mapped.order(); // as a flush
        }
        finish(request);
    }
    return status;
}

/// Nothing is to be run. One that notifies is as a put without data.
Status Recording::end_empty(const Operation& operation, Request* request) noexcept
{
    if (!notifies(operation)) {
        finish(request);
        return Status::ok;
    }
    Operation put = operation;
    put.kind = OperationKind::put;
    put.active = nullptr;
    put.origin = {nullptr, operation.layout, 0};
    put.result = {};
    put.count = 0;
    PeerEpochRef where;
    const Status status = find(operation.target, where);
    return status == Status::ok ? issue(where, put, request) : status;
}

Status Recording::mark(PeerEpochRef where, ThreadNumber thread) noexcept
{
    Operation marker;
    marker.thread = thread;
    marker.target = where.peer().rank;
    return record(where, marker, {}, nullptr);
}

/// As one of its thread's. Without memory to count it is one that all flushes wait for.
void Recording::count(Op& op, PeerEpoch& peer) noexcept
{
    ThreadNumber& thread = op.operation.thread;
    if (thread == no_thread) [[likely]] {
        return;
    }
    if (peer.by_thread == nullptr) {
        peer.by_thread.reset(new (std::nothrow) ThreadCounts);
    }
    if (peer.by_thread == nullptr) {
        thread = no_thread;
        return;
    }
    peer.by_thread->issued(thread);
}

/// Where access is granted, `destination` says where the operation goes.
Status Recording::record(PeerEpochRef where, const Operation& operation,
                         const Destination& destination, Request* request) noexcept
{
    const bool begins = where.peer().lets_begin();
    if (begins && !has_remote_request(operation, request) &&
        with_.operations.join(operation, destination, *where.epoch, where.number())) {
        finish(request);
        return Status::ok;
    }
    Op* op = with_.operations.record(operation, destination, request);
    if (op == nullptr) {
        return Status::no_memory;
    }
    Epoch& epoch = *where.epoch;
    PeerEpoch& peer = where.peer();
    op->epoch = &epoch;
    op->peer = where.number();
    op->awaited = epoch.kind != EpochKind::access || has_remote_request(*op);
    op->first = peer.outstanding == 0;
    op->holds_back = true;
    op->gates = operation.kind == OperationKind::active_message && operation.ordered;
    if (op->message != nullptr) {
        op->message->call.concurrent = epoch.concurrent;
    }
    count(*op, peer);
    ++epoch.unanswered;
    ++peer.outstanding;
    ++peer.local;
    ++peer.held;
    peer.to_be_flushed = true;
    queue_.enlist(epoch);
    peer.gates += begins && op->gates ? 1 : 0;
    show(with_, epoch, peer);
    if (begins) {
        with_.operations.execute_at(*op, destination);
    } else {
        keep_little(*op);
        peer.recorded.push(op);
    }
    return Status::ok;
}

} // namespace sidelight::rma
