// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/pool.hpp"
#include "rma/epoch/barrier.hpp"
#include "rma/epoch/offer.hpp"
#include "rma/operation/kept_data.hpp"

namespace sidelight::rma {

/// What this member, an origin that computes, offers of one window to others of its node, which
/// perform it while they wait for that (OthersOffers). An access is its target's to perform, a
/// fence epoch and a lock anybody's who waits behind it. See docs/design/offers.md. Guarded by the
/// engine.
class Offers {
public:
    /// What an origin may do with what it has offered.
    enum class Mine : std::uint8_t {
        to_perform, ///< all of it, itself
        performed,  ///< nothing more: it is complete at the targets
        elsewhere,  ///< nothing yet: another process is at it
        lost,       ///< nothing: that process has ended
    };

    struct Setting {
        Contacts& contacts;
        Barrier& barrier;
        const KeepingRoom& room; ///< says who finishes what is recorded
        Pool<Offer>& pool;
        bool dynamic;
        bool allowed;          ///< any are made
        bool calls_for_events; ///< what happens here calls the process for what is recorded
    };
    explicit Offers(const Setting& setting) noexcept : with_(setting) {}

    /// Whether its targets, when they wait, would perform all that is left of a closed access
    /// without a further call of this process.
    [[nodiscard]] bool would_finish(const Epoch& epoch) noexcept;
    /// Offers what a closed epoch that is not granted has recorded, if that may be; `returns`: its
    /// closing call does not wait for it. Answers whether it has: then the grant has to be looked
    /// at once more.
    bool make(const Epoch& epoch, PeerEpoch& peer, bool returns) noexcept;
    [[nodiscard]] bool is_made(const Epoch& epoch, const PeerEpoch& peer) const noexcept;
    /// Whether another process has performed it: it may not be granted any more.
    [[nodiscard]] bool is_performed(const Epoch& epoch, const PeerEpoch& peer) noexcept;
    /// Takes it back, unless somebody was first. What was never offered is to be performed.
    [[nodiscard]] Mine take_back(const Epoch& epoch, const PeerEpoch& peer) noexcept;

private:
    /// As far as the part, its number and its target are concerned.
    [[nodiscard]] bool may_make(const Epoch& epoch, const PeerEpoch& peer) noexcept;
    /// The member in whose block the word is.
    [[nodiscard]] int place_of(const Epoch& epoch, const PeerEpoch& peer) const noexcept
    {
        return epoch.kind == EpochKind::fence ? with_.contacts.rank() : peer.rank;
    }
    [[nodiscard]] OfferWord& word_in(int place) noexcept
    {
        return with_.contacts.offered(place, with_.contacts.rank());
    }
    [[nodiscard]] bool write(Offer& offer, const Epoch& epoch, const PeerEpoch& peer) noexcept;
    void end(int place) noexcept;

    Setting with_;
};

} // namespace sidelight::rma
