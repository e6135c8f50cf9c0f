// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/engine/dispatch.hpp"
#include "rma/engine/loss.hpp"
#include "rma/engine/shared_parts.hpp"
#include "rma/epoch/completions.hpp"
#include "rma/epoch/synchronization.hpp"
#include "rma/operation/active_messages.hpp"
#include "rma/operation/handle_regions.hpp"

namespace sidelight::rma {

/// The owners that a window is made of, lower ones first: each knows those before it, and hears
/// from them through the observers that they declare.
struct WindowParts {
    /// Meets the neighbours. Throws std::bad_alloc.
    WindowParts(Window& window, SharedParts& shared, const WindowShape& shape);

    // Channels: messages, and what is under way by them.
    OwnMemory memory;
    Channels channels;
    Credit credit;
    OperationLife life;
    Contacts contacts;
    Control& own; ///< this member's block
    ActiveMessages active;
    Origin origin;
    Acknowledgements acknowledgements;
    // What others reach.
    Accumulates accumulates;
    TargetSide target_side;
    // Operations.
    NativeAccesses native;
    HandleRegions regions; ///< of memory handles
    Operations operations;
    // Epochs.
    Barrier barrier;
    LockServer locks;
    Notices notices;
    NotificationCounters counters; ///< of this member
    Notifications notifications;
    Offers offers;
    OthersOffers others_offers;
    EpochSurroundings surroundings;
    EpochQueue queue;
    OpenEpochs open;
    Recording recording;
    Flushes flushes;
    Completions completions;
    Synchronization synchronization;
    // The window as a whole.
    Dispatch dispatch;
    Losses losses;
};

} // namespace sidelight::rma
