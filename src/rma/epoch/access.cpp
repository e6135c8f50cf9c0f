// SPDX-License-Identifier: BSD-3-Clause
#include "rma/early_return_rules.hpp"
#include "rma/epoch/kind_table.hpp"
#include "rma/rules.hpp"

/// Access epochs, by MPI_Win_start: numbers that match those of the targets' exposures (P1, VII.B).
namespace sidelight::rma {

namespace {

/// Whoever waits for a member without a message to it would never hear that it is lost.
void probe(const EpochSurroundings& with, int rank) noexcept
{
    if (with.contacts.peer(rank).control != nullptr) {
        return;
    }
    if (Channel& channel = with.contacts.channel(rank); !channel.probed) {
        with.channels.send(channel, MessageKind::probe);
    }
}

void enter_access(const EpochSurroundings& with, Epoch& epoch) noexcept
{
    for (PeerEpoch& peer : epoch.peers) {
        Peer& target = with.contacts.peer(peer.rank);
        peer.number = ++target.accesses;
        peer.early = target.early;
        if (epoch.early == Early::returned) {
            target.early = peer.number;
        }
        probe(with, peer.rank);
    }
}

/// What was kept for the target is over there.
bool follows_early(const EpochSurroundings& with, const Epoch& epoch,
                   const PeerEpoch& peer) noexcept
{
    return peer.early == 0 ||
           rules::may_follow_early(peer.early, with.contacts.peer(peer.rank).early_over,
                                   epoch.reorder);
}

/// A target may grant several accesses at once.
bool access_granted(const EpochSurroundings& with, const Epoch& epoch,
                    const PeerEpoch& peer) noexcept
{
    if (!follows_early(with, epoch, peer)) [[unlikely]] {
        return false;
    }
    // Pairs with the release in `publish_grant` at the target.
    return epoch.no_check || with.contacts.target(peer.rank).lost ||
           rules::access_granted(
               peer.number, with.own().notices(peer.rank).granted.load(std::memory_order_acquire));
}

/// Tells the target as soon as its own part is done, grant or no grant where nothing was issued.
/// The notice counts, so accesses to one target are announced in order. A target that is lost from
/// then on has failed the epoch only if it leaves operations unanswered.
bool announce_access(const EpochSurroundings& with, Epoch& epoch, PeerEpoch& peer) noexcept
{
    Peer& target = with.contacts.peer(peer.rank);
    if (peer.held != 0 && peer.granted) { // else nothing of it is on its way
        with.credit.request_all();
    }
    if (peer.held != 0 || target.done + 1 != peer.number) {
        return false;
    }
    peer.announced = true;
    note_loss(with, epoch, peer);
    target.done = peer.number;
    if (target.control != nullptr) {
        with.contacts.publish_done(peer.rank, peer.number);
    } else {
        Channel& channel = with.contacts.channel(peer.rank);
        with.channels.send(
            channel, MessageKind::done,
            DoneBody{.number = peer.number, .zero_copies = channel.zero_copies_sent});
    }
    return true;
}

/// Done when the buffers are free: what is on its way is the target's concern. Only in a dynamic
/// window does the target say whether there is memory, and the closing call tells that.
bool finish_access(const EpochSurroundings& with, Epoch& epoch, PeerEpoch& peer) noexcept
{
    if (!peer.announced && !announce_access(with, epoch, peer)) {
        return false;
    }
    if (with.dynamic && peer.outstanding != 0) {
        with.credit.request_all();
        return false;
    }
    return peer.local == 0 && follows_early(with, epoch, peer); // so they are over in their order
}

} // namespace

const EpochKindRow access_epoch{.name = "access",
                                .ordered_as = EpochClass::access,
                                .passage = Passage::operations,
                                .enter = enter_access,
                                .granted = access_granted,
                                .enters = note_loss,
                                .finish = finish_access};

} // namespace sidelight::rma
