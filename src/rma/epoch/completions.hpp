// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/epoch/flush.hpp"

namespace sidelight::rma {

/// What becomes of epochs and flushes when an operation moves on. Guarded by the engine.
class Completions final : public OperationObserver {
public:
    Completions(const EpochSurroundings& with, EpochQueue& queue, Flushes& flushes) noexcept
        : with_(with), queue_(queue), flushes_(flushes)
    {}

    void moved(Op& op, OperationState from) noexcept override;

private:
    void open_gate(const Epoch& epoch, PeerEpoch& peer) noexcept;
    void let_announce(Op& op, PeerEpoch& peer) noexcept;
    void note_failure(const Op& op, PeerEpoch& peer) noexcept;
    void complete(Op& op, PeerEpoch& peer, bool told) noexcept;

    EpochSurroundings with_;
    EpochQueue& queue_;
    Flushes& flushes_;
};

} // namespace sidelight::rma
