// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/lock.hpp"
#include "rma/rules.hpp"

/// Lock_all epochs: a shared lock of each member, taken in rank order, as if each were a call of
/// its own.
namespace sidelight::rma {

namespace {

void ask_in_order(const EpochSurroundings& with, Epoch& epoch) noexcept
{
    while (!epoch.no_check && epoch.peers_asked < epoch.peers.size() &&
           rules::may_ask_for_lock(epoch.peers_asked - epoch.peers_granted, epoch.reorder)) {
        take_place(with, epoch, epoch.peers[epoch.peers_asked++]);
    }
}

bool lock_all_granted(const EpochSurroundings& with, const Epoch& epoch,
                      const PeerEpoch& peer) noexcept
{
    if (epoch.no_check) {
        return true;
    }
    return epoch.has_asked(peer) && place_admitted(with, epoch, peer);
}

void lock_all_enters(const EpochSurroundings& with, Epoch& epoch, const PeerEpoch& peer) noexcept
{
    note_loss(with, epoch, peer);
    ask_in_order(with, epoch);
}

} // namespace

const EpochKindRow lock_all_epoch{.name = "lock_all",
                                  .ordered_as = EpochClass::exclusive,
                                  .passage = Passage::operations_and_flushes,
                                  .enter = ask_in_order,
                                  .granted = lock_all_granted,
                                  .enters = lock_all_enters,
                                  .finish = finish_lock};

} // namespace sidelight::rma
