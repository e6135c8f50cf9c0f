// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/list.hpp"
#include "base/status.hpp"
#include "rma/epoch/flush_queue.hpp"
#include "rma/epoch/lock_queue.hpp"
#include "rma/epoch/thread_counts.hpp"
#include "rma/kinds.hpp"
#include "rma/operation.hpp"

namespace sidelight::rma {

/// The two lives of an epoch in one word: what the application has done with it (open, closed) and
/// what the engine has (deferred, active, completed). Diagram: docs/design/epochs.md.
enum class EpochState : std::uint8_t {
    deferred_open,
    deferred_closed,
    active_open,
    active_closed,
    completed,
    illegal,
};

enum class EpochEvent : std::uint8_t { activate, close, complete };

/// The transition table. An event that the state does not allow leads to `illegal`.
[[nodiscard]] EpochState next_state(EpochState state, EpochEvent event) noexcept;

/// What an epoch has to do with one peer (fence: with all of them).
struct PeerEpoch {
    int rank = 0;
    bool granted = false;            ///< operations may be performed
    bool done = false;               ///< nothing left to do or to wait for
    bool announced = false;          ///< access, lock: the target has been told that it is closed
    bool to_be_flushed = false;      ///< a flush has to tell of something issued since the last one
    bool was_offered = false;        ///< or cannot be. See Offers
    bool replaying = false;          ///< what is recorded begins
    Status failure = Status::ok;     ///< of an operation that was not performed, and not yet told
    ThreadNumber failed = no_thread; ///< whose it was; several threads': nobody's
    std::uint32_t outstanding = 0;   ///< operations not yet complete at the target
    std::uint32_t local = 0;         ///< operations whose buffers are still needed here
    std::uint32_t held = 0;          ///< operations that the announcement must not precede
    std::uint32_t gates = 0;         ///< active messages that others of an ordered window wait for
    std::uint64_t number = 0; ///< access or exposure number towards the peer, or place asked for
    std::uint64_t early = 0;  ///< access: the last one before it that has returned early
    LockPlace place{};        ///< lock and lock_all
    Fifo<Op> recorded{};      ///< operations that wait for the grant, in order of issue
    std::unique_ptr<ThreadCounts> by_thread{}; ///< once one of a thread's own was recorded
    /// Where flushes wait, by scope: the first for each thread that has waited here.
    std::array<std::unique_ptr<FlushQueue>, flush_scopes> flushes{};

    /// Whether an operation that is issued now may begin at once.
    [[nodiscard]] bool lets_begin() const noexcept
    {
        return granted && gates == 0 && recorded.empty();
    }

    [[nodiscard]] std::unique_ptr<FlushQueue>& flushes_of(FlushScope scope) noexcept
    {
        return flushes[static_cast<std::size_t>(scope)];
    }

    /// For a new epoch. An earlier one has left all counts at zero.
    void begin(int peer) noexcept
    {
        rank = peer;
        granted = done = announced = to_be_flushed = was_offered = false;
        failure = Status::ok;
        failed = no_thread;
        early = 0;
    }
};

/// May its closing call return before others, late targets among them, have come?
enum class Early : std::uint8_t {
    no,       ///< it waits for the epoch
    asked,    ///< it waits for the epoch, or for room to keep what is left
    returned, ///< it has returned: nobody waits for the epoch
    at_once,  ///< it returns at once, and a request is waited for later, if ever
};

/// What a closed epoch that is not complete keeps from beginning.
enum class HoldsBack : std::uint8_t {
    nothing,
    later,     ///< epochs that are opened behind it, as the rules of their classes say
    short_way, ///< a thread waits for it, so what is opened meanwhile is another one's: only the
               ///< way past the queue
};

/// Of a fence epoch.
struct EpochBarriers {
    std::uint64_t in = 0;  ///< grants it
    std::uint64_t out = 0; ///< ends it; 0: none
};

/// An epoch, from the call that opens it until its internal completion, and until none of its
/// operations needs it: one that is complete at the origin may still be unanswered. From the
/// process's pool, where it is as new but for its peers. Guarded by whoever holds the engine.
struct Epoch {
    EpochKind kind = EpochKind::fence;
    EpochState state = EpochState::deferred_open;
    LockType lock_type = LockType::shared;
    bool no_check = false;     ///< the grant is certain (MPI_MODE_NOCHECK), no place needed
    bool concurrent = false;   ///< active messages of it may run beside one another
    bool last = false;         ///< of the window: MPI_Win_free's
    bool queued = false;       ///< in the window's queue
    bool kept_ready = false;   ///< opened by SettledEpochs
    bool unsettled = false;    ///< in the window's count of epochs that need progress
    bool grant_waited = false; ///< one of several threads waits in the call that opens it
    HoldsBack holds_back = HoldsBack::nothing;
    Early early = Early::no;       ///< whether its closing call returns before it is complete
    Status failure = Status::ok;   ///< a member that it is about was lost
    Reorder reorder{};             ///< the keys of the window when it was opened
    std::uint32_t peers_asked = 0; ///< lock_all: members whose lock has been asked for
    std::uint32_t peers_granted = 0;
    std::uint32_t peers_done = 0;
    std::uint32_t unanswered = 0; ///< operations not yet complete at their targets, of all peers
    std::uint64_t opened_at = 0;  ///< the window's clock of openings and closings
    std::uint64_t closed_at = 0;
    std::uint64_t early_at = 0; ///< early returns of the process when it was opened; then its own
    EpochBarriers barriers{};
    std::size_t kept = 0;         ///< returned early: bytes beside the data, for its record
    Request* opening = nullptr;   ///< completes when every peer has granted it or is lost; of locks
                                  ///< also when they are given back
    Request* closing = nullptr;   ///< completes with the epoch
    std::vector<PeerEpoch> peers; ///< keeps its capacity from use to use
    Links<Epoch> in_queue{};      ///< see EpochQueue
    Links<Epoch> among_alike{}; ///< open ones there; or closed and not completed, of its class, in
                                ///< closing order
    Links<Epoch> in_early{};    ///< returned early and not completed, in the order of returning
    Epoch* next = nullptr;

    [[nodiscard]] bool open() const noexcept
    {
        return state == EpochState::deferred_open || state == EpochState::active_open;
    }
    [[nodiscard]] bool active() const noexcept
    {
        return state == EpochState::active_open || state == EpochState::active_closed;
    }
    /// Of a peer of it, in a lock_all epoch.
    [[nodiscard]] bool has_asked(const PeerEpoch& peer) const noexcept
    {
        return &peer < peers.data() + peers_asked;
    }
    /// For a new epoch, before its peers are named. An earlier one has left all lists.
    void begin(EpochKind as) noexcept
    {
        kind = as;
        state = EpochState::deferred_open;
        no_check = concurrent = last = kept_ready = grant_waited = false;
        early = Early::no;
        failure = Status::ok;
        peers_asked = peers_granted = peers_done = 0;
        closed_at = barriers.out = 0;
    }
    /// Whether it is granted by locks.
    [[nodiscard]] bool passive() const noexcept
    {
        return kind == EpochKind::lock || kind == EpochKind::lock_all;
    }
    /// Whether it was granted to nobody, but ended by a loss.
    [[nodiscard]] bool failed_for_all() const noexcept
    {
        return kind == EpochKind::fence && failure != Status::ok;
    }
    [[nodiscard]] bool granted_by_all() const noexcept { return peers_granted == peers.size(); }
    /// Open and granted everywhere: nothing happens to it before the program's next call.
    [[nodiscard]] bool settled() const noexcept
    {
        return state == EpochState::active_open && granted_by_all();
    }
};

} // namespace sidelight::rma
