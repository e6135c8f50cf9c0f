// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/exposure.hpp"

#include "rma/rules.hpp"

namespace sidelight::rma {

namespace {

/// Tells each origin that one more exposure is open for it. The notice persists until it catches
/// up.
void enter_exposure(const EpochSurroundings& with, Epoch& epoch) noexcept
{
    for (PeerEpoch& peer : epoch.peers) {
        Peer& origin = with.contacts.peer(peer.rank);
        peer.number = ++origin.exposures;
        if (origin.control != nullptr) {
            with.contacts.publish_grant(peer.rank, peer.number);
        } else {
            with.channels.send(with.contacts.channel(peer.rank), MessageKind::grant,
                               NoticeBody{.number = peer.number});
        }
    }
}

bool exposure_granted(const EpochSurroundings& /*with*/, const Epoch& /*epoch*/,
                      const PeerEpoch& /*peer*/) noexcept
{
    return true;
}

void exposure_enters(const EpochSurroundings& /*with*/, Epoch& /*epoch*/,
                     const PeerEpoch& /*peer*/) noexcept
{}

bool finish_exposure(const EpochSurroundings& with, Epoch& epoch, PeerEpoch& peer) noexcept
{
    if (exposure_over(with, peer)) {
        return true;
    }
    const bool is_lost = with.contacts.target(peer.rank).lost;
    epoch.failure = is_lost ? Status::lost : epoch.failure;
    return is_lost;
}

} // namespace

bool exposure_over(const EpochSurroundings& with, const PeerEpoch& peer) noexcept
{
    const auto is_done = [&] {
        // Pairs with the release in `publish_done` at the origin.
        const std::uint64_t done =
            with.own().notices(peer.rank).done.load(std::memory_order_acquire);
        return rules::exposure_done(peer.number, done);
    };
    return is_done() || (with.others_offers.perform_access(peer.rank, peer.number) && is_done());
}

const EpochKindRow exposure_epoch{.name = "exposure",
                                  .ordered_as = EpochClass::exposure,
                                  .passage = Passage::nothing,
                                  .enter = enter_exposure,
                                  .granted = exposure_granted,
                                  .enters = exposure_enters,
                                  .finish = finish_exposure};

} // namespace sidelight::rma
