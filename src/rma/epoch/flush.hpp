// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/epoch/recording.hpp"

namespace sidelight::rma {

inline constexpr int all_targets = -1;

/// A condition on the operations issued before it (P1, VI and VII.C).
struct Flush {
    Request* request = nullptr;
    int target = all_targets;
    FlushScope scope = FlushScope::remote;
    ThreadNumber thread = no_thread;
    Status status = Status::ok;  ///< why one of its operations was not performed
    std::uint64_t stamp = 0;     ///< age of the last operation before it
    std::uint64_t clock = 0;     ///< operations of epochs closed by then are not its own
    std::uint64_t remaining = 0; ///< operations it still waits for
    Flush* next = nullptr;
};

/// The flushes of one window. Guarded by the engine.
class Flushes {
public:
    Flushes(const EpochSurroundings& with, EpochQueue& queue, Recording& recording,
            const OpenEpochs& open, Pool<Flush>& pool) noexcept
        : with_(with), queue_(queue), recording_(recording), open_(open), pool_(pool)
    {}

    /// `target` may be all_targets. Tells, once, of operations before it that were not performed,
    /// as far as it would wait for their threads.
    Status flush(int target, FlushScope scope, Request* request, ThreadNumber thread) noexcept;

    /// An operation that may have been waited for is complete, here or at the target. Answers
    /// whether a flush tells its failure: one that has waited for it. What its own request tells,
    /// flushes do not, unless it is a loss.
    bool count_down(const Op& op, FlushScope scope) noexcept;
    /// A failure was noted in a PeerEpoch, for the next flush to tell.
    void note_failure() noexcept { untold_ = true; }

private:
    Status flush_one(int target, FlushScope scope, Request* request, ThreadNumber thread) noexcept;
    [[nodiscard]] Status refusal(int target, Status status) const noexcept;
    Status begin(const Flush& flush) noexcept;
    template <class Visit>
    void for_each(PeerEpochRef only, Visit visit) noexcept;
    [[nodiscard]] bool is_being_opened(PeerEpochRef where) const noexcept;
    Status mark(PeerEpochRef where, const Flush& flush) noexcept;
    void add(PeerEpochRef where, Flush& flush) noexcept;

    EpochSurroundings with_;
    EpochQueue& queue_;
    Recording& recording_;
    const OpenEpochs& open_;
    Pool<Flush>& pool_;
    Fifo<Flush> flushes_;
    bool untold_ = false; ///< there may be a failure that a flush of all targets has to tell
};

} // namespace sidelight::rma
