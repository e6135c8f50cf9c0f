// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/epoch/kind_table.hpp"

/// What lock and lock_all epochs have in common, towards one target.
namespace sidelight::rma {

/// Asks for the lock at once, whatever the epoch will do (P1: no lazy locks).
void take_place(const EpochSurroundings& with, const Epoch& epoch, PeerEpoch& peer) noexcept;

/// Whether the place that was asked for is admitted; also where it was lost with its target.
[[nodiscard]] bool place_admitted(const EpochSurroundings& with, const Epoch& epoch,
                                  const PeerEpoch& peer) noexcept;

/// Gives the lock back behind the operations. Done when these are complete at the target, which
/// also the answer to the unlock says.
[[nodiscard]] bool finish_lock(const EpochSurroundings& with, Epoch& epoch,
                               PeerEpoch& peer) noexcept;

} // namespace sidelight::rma
