// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/epoch/epoch_queue.hpp"
#include "rma/epoch/open_epochs.hpp"

namespace sidelight::rma {

/// Operations of an epoch: found their place there, performed at once, or recorded and begun when
/// access is granted. Guarded by the engine.
class Recording {
public:
    Recording(const EpochSurroundings& with, EpochQueue& queue, const OpenEpochs& open) noexcept
        : with_(with), queue_(queue), open_(open)
    {}

    /// Where what is wanted of the target belongs; it is one of the epoch's peers from then on.
    Status find(int target, PeerEpochRef& where) noexcept;

    /// Performs or records an operation in an epoch; `request` completes when it is complete where
    /// `request_scope` says.
    Status issue(PeerEpochRef where, const Operation& operation, Request* request) noexcept;
    /// Records a marker, which completes in its turn; `thread`: whose flush it is for.
    Status mark(PeerEpochRef where, ThreadNumber thread) noexcept;

private:
    static void count(Op& op, PeerEpoch& peer) noexcept;
    Status may_issue(const Epoch& epoch, const Operation& operation) noexcept;
    Status end_empty(const Operation& operation, Request* request) noexcept;
    Status record(PeerEpochRef where, const Operation& operation, const Destination& destination,
                  Request* request) noexcept;

    EpochSurroundings with_;
    EpochQueue& queue_;
    const OpenEpochs& open_;
};

} // namespace sidelight::rma
