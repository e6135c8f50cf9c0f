// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/trace.hpp"
#include "rma/channel/credit.hpp"
#include "rma/epoch/barrier.hpp"
#include "rma/epoch/lock_server.hpp"
#include "rma/epoch/notifications.hpp"
#include "rma/epoch/offers.hpp"
#include "rma/epoch/others_offers.hpp"
#include "rma/operation/operations.hpp"

namespace sidelight::rma {

class EarlyEpochs;

/// What the epochs of a window have to do with.
struct EpochSurroundings {
    Contacts& contacts;
    Channels& channels;
    Credit& credit;
    Barrier& barrier;
    LockServer& locks;
    Notifications& notifications;
    Operations& operations;
    Mapped& mapped;
    EarlyEpochs& early;
    Offers& offers;
    OthersOffers& others_offers;
    bool dynamic;            ///< the window
    bool no_exclusive_locks; ///< by the program's word
    bool calls_for_events;   ///< what happens here calls the process for what is recorded
    trace::Track trace{};

    [[nodiscard]] bool allows(LockType type) const noexcept
    {
        return type == LockType::shared || !no_exclusive_locks;
    }

    /// This member's block.
    [[nodiscard]] Control& own() const noexcept { return contacts.own(); }
};

/// What an open and granted epoch lets through.
enum class Passage : std::uint8_t {
    nothing,
    operations,             ///< to its peers
    operations_and_flushes, ///< likewise
    operations_to_all,      ///< members, at once
};

/// What is different in epochs of different kinds. The rest is the queue's (epoch_queue.hpp).
struct EpochKindRow {
    const char* name;
    EpochClass ordered_as; ///< by the reorder keys
    Passage passage;
    /// It becomes active: asks, or grants, as the calls did in their order.
    void (*enter)(const EpochSurroundings&, Epoch&) noexcept;
    /// Whether the peer grants it, as far as this member can see now.
    bool (*granted)(const EpochSurroundings&, const Epoch&, const PeerEpoch&) noexcept;
    /// A peer has granted it, or is lost.
    void (*enters)(const EpochSurroundings&, Epoch&, const PeerEpoch&) noexcept;
    /// It is closed: does what that asks for, and answers whether nothing is left towards the peer.
    bool (*finish)(const EpochSurroundings&, Epoch&, PeerEpoch&) noexcept;
    /// Another process has performed what was recorded, and has told whom `finish` would tell.
    /// Null: what `finish` does is right then.
    void (*performed)(const EpochSurroundings&, Epoch&, PeerEpoch&) noexcept = nullptr;
};

extern const EpochKindRow fence_epoch;
extern const EpochKindRow access_epoch;
extern const EpochKindRow exposure_epoch;
extern const EpochKindRow lock_epoch;
extern const EpochKindRow lock_all_epoch;

[[nodiscard]] const EpochKindRow& row_of(EpochKind kind) noexcept;

/// If the peer is lost the epoch has failed.
void note_loss(const EpochSurroundings& with, Epoch& epoch, const PeerEpoch& peer) noexcept;

/// Shows the direct path what the epoch, or the one that is open towards the peer after it, lets it
/// do with the peer now. After each change of what that depends on.
void show(const EpochSurroundings& with, const Epoch& epoch, const PeerEpoch& peer) noexcept;

} // namespace sidelight::rma
