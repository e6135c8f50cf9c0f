// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/epoch/recording.hpp"

namespace sidelight::rma {

/// The flushes of one window. Guarded by the engine.
class Flushes {
public:
    Flushes(const EpochSurroundings& with, EpochQueue& queue, Recording& recording,
            const OpenEpochs& open, Pool<Flush>& pool) noexcept
        : with_(with), queue_(queue), recording_(recording), open_(open), pool_(pool)
    {}

    /// `target` may be all_targets; `request` is not null. Tells, once, of operations before it
    /// that were not performed, as far as it would wait for their threads.
    Status flush(int target, FlushScope scope, Request* request, ThreadNumber thread) noexcept;

    /// An operation that may have been waited for is complete, here or at the target `peer`.
    /// Answers whether a flush tells its failure: one that has waited for it. What its own request
    /// tells, flushes do not, unless it is a loss.
    bool count_down(const Op& op, PeerEpoch& peer, FlushScope scope) noexcept
    {
        FlushQueue* first = peer.flushes_of(scope).get();
        return first != nullptr && count_down(op, first);
    }
    /// A failure was noted in a PeerEpoch, for the next flush to tell.
    void note_failure() noexcept { untold_ = true; }

private:
    Status flush_one(int target, FlushScope scope, Request* request, ThreadNumber thread) noexcept;
    [[nodiscard]] Status refusal(int target, Status status) const noexcept;
    Status begin(const Flush& flush) noexcept;
    template <class Visit>
    void for_each(PeerEpochRef only, Visit visit) noexcept;
    [[nodiscard]] bool is_being_opened(PeerEpochRef where) const noexcept;
    Status prepare(PeerEpochRef where, const Flush& flush) noexcept;
    void add(PeerEpochRef where, Flush& flush) noexcept;
    bool count_down(const Op& op, FlushQueue* first) noexcept;
    void leave_queue(Flush& flush) noexcept;

    EpochSurroundings with_;
    EpochQueue& queue_;
    Recording& recording_;
    const OpenEpochs& open_;
    Pool<Flush>& pool_;
    std::size_t waiting_ = 0; ///< flushes
    bool untold_ = false;     ///< there may be a failure that a flush of all targets has to tell
};

} // namespace sidelight::rma
