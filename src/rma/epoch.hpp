// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "base/list.hpp"
#include "base/status.hpp"
#include "rma/control.hpp"
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
struct Part {
    int rank = 0;
    std::uint64_t number = 0;      ///< access or exposure number towards the peer
    LockPlace place{};             ///< lock and lock_all
    bool granted = false;          ///< operations may be transferred
    bool done = false;             ///< nothing left to do or to wait for
    Status failure = Status::ok;   ///< of an operation without a request; not told yet
    std::uint64_t failed = 0;      ///< age of that operation: of several, the latest
    bool announced = false;        ///< access, lock: the target has been told that it is closed
    std::uint32_t outstanding = 0; ///< operations not yet complete at the target
    std::uint32_t local = 0;       ///< operations whose buffers are still needed here
    std::uint32_t held = 0;        ///< operations that the announcement must not precede
    Fifo<Op> recorded{};           ///< operations that wait for the grant, in order of issue
};

/// An epoch, from the call that opens it until its internal completion, and until none of its
/// operations needs it: one that is complete at the origin may still be unanswered. From the
/// process's pool. Guarded by whoever holds the engine.
struct Epoch {
    EpochKind kind = EpochKind::fence;
    EpochState state = EpochState::deferred_open;
    LockType lock_type = LockType::shared;
    Reorder reorder{};             ///< the window's keys when it was opened
    bool no_check = false;         ///< MPI_MODE_NOCHECK: the grant is certain
    bool counted = false;          ///< in the window's count of epochs that need progress
    Status failure = Status::ok;   ///< a member that it is about was lost
    bool holds_back = false;       ///< in the window's list of closed epochs of its class
    std::uint32_t parts_asked = 0; ///< lock_all: members whose lock has been asked for
    std::uint32_t parts_granted = 0;
    std::uint32_t parts_done = 0;
    std::uint32_t unanswered = 0; ///< operations not yet complete at their targets, in all parts
    bool last = false;            ///< of the window: MPI_Win_free's
    std::uint64_t opened_at = 0;  ///< the window's clock of openings and closings
    std::uint64_t closed_at = 0;
    std::uint64_t barrier_in = 0;  ///< fence: the barrier that grants the epoch
    std::uint64_t barrier_out = 0; ///< fence: the barrier that ends it; 0: none
    Request* opening = nullptr;    ///< completes when every part is granted
    Request* closing = nullptr;    ///< completes with the epoch
    std::vector<Part> parts;       ///< keeps its capacity from use to use
    Links<Epoch> in_queue{};       ///< all epochs not completed, in opening order
    Links<Epoch> in_closed{};      ///< closed and not completed, of its class, in closing order
    Epoch* next = nullptr;

    [[nodiscard]] bool open() const noexcept
    {
        return state == EpochState::deferred_open || state == EpochState::active_open;
    }
    /// Whether it is granted by locks.
    [[nodiscard]] bool passive() const noexcept
    {
        return kind == EpochKind::lock || kind == EpochKind::lock_all;
    }
    /// Whether it was granted to nobody, but ended by a loss.
    [[nodiscard]] bool failure_for_all() const noexcept
    {
        return kind == EpochKind::fence && failure != Status::ok;
    }
    [[nodiscard]] bool active() const noexcept
    {
        return state == EpochState::active_open || state == EpochState::active_closed;
    }
};

} // namespace sidelight::rma
