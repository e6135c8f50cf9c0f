// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/interest.hpp"
#include "rma/epoch/epoch_queue.hpp"

namespace sidelight::rma {

/// What the epochs of the windows of this process, and the origins that it serves, have recorded
/// work for. Made anew by whoever leaves the engine; guarded by it.
class WantedEvents {
public:
    /// Messages: where others may send some.
    explicit WantedEvents(bool open_to_messages) noexcept;

    /// Of one window.
    void add(const EpochQueue& queue, const EpochSurroundings& with) noexcept;

    [[nodiscard]] const Wanted& wanted() const noexcept { return wanted_; }

private:
    void add_epoch(const EpochSurroundings& with, const Epoch& epoch, bool deferred_act) noexcept;
    void add_grant(const EpochSurroundings& with, const Epoch& epoch,
                   const PeerEpoch& peer) noexcept;

    Wanted wanted_;
};

} // namespace sidelight::rma
