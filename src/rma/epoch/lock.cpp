// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/lock.hpp"

#include "base/cpu.hpp"

namespace sidelight::rma {

namespace {

void enter_lock(const EpochSurroundings& with, Epoch& epoch) noexcept
{
    if (!epoch.no_check) {
        take_place(with, epoch, epoch.peers[0]);
    }
}

bool lock_granted(const EpochSurroundings& with, const Epoch& epoch, const PeerEpoch& peer) noexcept
{
    return epoch.no_check || place_admitted(with, epoch, peer);
}

/// A target that is lost from now on has failed the epoch only if it leaves operations unanswered.
void announce_unlock(const EpochSurroundings& with, Epoch& epoch, PeerEpoch& peer) noexcept
{
    peer.announced = true;
    note_loss(with, epoch, peer);
    const Peer& target = with.contacts.peer(peer.rank);
    if (epoch.no_check) {
        full_barrier(); // as the lock would be
    } else if (with.contacts.target(peer.rank).lost) {
        return;
    } else if (target.control != nullptr) {
        with.locks.leave(peer.rank, *target.control, epoch.lock_type);
    } else {
        Channel& channel = with.contacts.channel(peer.rank);
        const std::uint8_t acknowledge = Credit::ask_along(channel) ? 1 : 0;
        with.channels.send(channel, MessageKind::unlock,
                           UnlockBody{.zero_copies = channel.zero_copies_sent,
                                      .type = static_cast<std::uint8_t>(epoch.lock_type),
                                      .acknowledge = acknowledge});
    }
}

/// Its place has been left, too.
void lock_was_performed(const EpochSurroundings& /*with*/, Epoch& /*epoch*/,
                        PeerEpoch& peer) noexcept
{
    peer.announced = true;
}

/// Who waits in a queue performs what the one before it has recorded.
bool admits(const EpochSurroundings& with, const Epoch& epoch, const PeerEpoch& peer) noexcept
{
    const LockQueue& queue = with.contacts.peer(peer.rank).control->lock;
    const auto is_admitted = [&] { return queue.admits(epoch.lock_type, peer.place); };
    return is_admitted() || (with.others_offers.perform_locks(peer.rank) && is_admitted());
}

} // namespace

void take_place(const EpochSurroundings& with, const Epoch& epoch, PeerEpoch& peer) noexcept
{
    Peer& target = with.contacts.peer(peer.rank);
    if (with.contacts.target(peer.rank).lost) {
        return; // granted without a place
    }
    if (target.control != nullptr) {
        peer.place = target.control->lock.arrive(epoch.lock_type);
        return;
    }
    peer.number = ++target.lock_requests;
    with.channels.send(with.contacts.channel(peer.rank), MessageKind::lock,
                       LockBody{.type = static_cast<std::uint8_t>(epoch.lock_type)});
}

bool place_admitted(const EpochSurroundings& with, const Epoch& epoch,
                    const PeerEpoch& peer) noexcept
{
    const Peer& target = with.contacts.peer(peer.rank);
    if (with.contacts.target(peer.rank).lost) {
        return true;
    }
    return target.control != nullptr ? admits(with, epoch, peer)
                                     : peer.number <= target.lock_grants;
}

bool finish_lock(const EpochSurroundings& with, Epoch& epoch, PeerEpoch& peer) noexcept
{
    if (!peer.granted) {
        return false;
    }
    if (!peer.announced && peer.held == 0) {
        announce_unlock(with, epoch, peer);
    }
    if (peer.outstanding != 0) {
        with.credit.request_all();
        return false;
    }
    return true;
}

const EpochKindRow lock_epoch{.name = "lock",
                              .ordered_as = EpochClass::access,
                              .passage = Passage::operations_and_flushes,
                              .enter = enter_lock,
                              .granted = lock_granted,
                              .enters = note_loss,
                              .finish = finish_lock,
                              .performed = lock_was_performed};

} // namespace sidelight::rma
