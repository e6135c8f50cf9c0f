// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/completions.hpp"

#include <utility>

#include "base/log.hpp"
#include "rma/notice_rules.hpp"

namespace sidelight::rma {

void Completions::moved(Op& op, OperationState from) noexcept
{
    PeerEpoch& peer = op.epoch->peers[op.peer];
    bool told = false;
    if (op.state == OperationState::sent) {
        const bool same_way = with_.contacts.peer(op.operation.target).control == nullptr &&
                              op.epoch->kind != EpochKind::fence;
        if (rules::notice_follows(same_way, is_answered(op.operation))) {
            let_announce(op, peer);
        }
    }
    if (from < OperationState::local && op.state >= OperationState::local) {
        --peer.local;
        if (op.kept != nullptr) [[unlikely]] {
            drop_kept(op);
        }
        if (op.operation.thread != no_thread) [[unlikely]] {
            peer.by_thread->local(op.operation.thread);
        }
        told = flushes_.count_down(op, peer, FlushScope::local);
    }
    if (op.state == OperationState::complete) {
        complete(op, peer, told);
    }
}

/// What tells its target that its epoch is closed need not wait for it any longer.
void Completions::let_announce(Op& op, PeerEpoch& peer) noexcept
{
    if (std::exchange(op.holds_back, false)) {
        --peer.held;
    }
}

/// Gone on return. `told`: somebody has heard of its failure.
void Completions::complete(Op& op, PeerEpoch& peer, bool told) noexcept
{
    Epoch& epoch = *op.epoch;
    let_announce(op, peer);
    if (notifies(op.operation) && op.failure == Status::ok) { // performed without messages
        with_.notifications.raise(op.operation.target,
                                  static_cast<std::uint32_t>(op.operation.notification));
    }
    --epoch.unanswered;
    --peer.outstanding;
    if (op.operation.thread != no_thread) [[unlikely]] {
        peer.by_thread->complete(op.operation.thread);
    }
    told = flushes_.count_down(op, peer, FlushScope::remote) || told || op.request != nullptr;
    if (op.failure == Status::lost) {
        // A target that is lost after the epoch was complete is no failure of anything that others
        // wait for. Before that, all who wait must hear of it.
        epoch.failure = epoch.state != EpochState::completed ? Status::lost : epoch.failure;
    } else if (op.failure != Status::ok && !told) {
        note_failure(op, peer);
    }
    const bool gate = op.gates;
    peer.gates -= gate ? 1 : 0;
    if (peer.outstanding == 0 && with_.dynamic) {
        show(with_, epoch, peer);
    }
    with_.operations.retire(op);
    if (gate) {
        open_gate(epoch, peer);
    }
    queue_.give_back_if_over(epoch);
}

/// What was recorded behind an active message of an ordered window begins.
void Completions::open_gate(const Epoch& epoch, PeerEpoch& peer) noexcept
{
    queue_.replay(epoch, peer);
    show(with_, epoch, peer);
}

/// The next call that waits for it tells it: a flush of that target, or the closing of the epoch.
void Completions::note_failure(const Op& op, PeerEpoch& peer) noexcept
{
    if (op.epoch->state == EpochState::completed) {
        log(LogLevel::error, "an operation on rank %d was not performed after its epoch was over",
            op.operation.target);
        return;
    }
    const ThreadNumber thread = op.operation.thread;
    const bool same = peer.failure == Status::ok || peer.failed == thread;
    peer.failed = same ? thread : no_thread;
    peer.failure = op.failure;
    flushes_.note_failure();
}

} // namespace sidelight::rma
