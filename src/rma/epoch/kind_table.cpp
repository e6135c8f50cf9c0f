// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/kind_table.hpp"

#include <array>

#include "rma/rules.hpp"

namespace sidelight::rma {

const EpochKindRow& row_of(EpochKind kind) noexcept
{
    static constexpr std::array<const EpochKindRow*, 5> rows{
        &fence_epoch, &access_epoch, &exposure_epoch, &lock_epoch, &lock_all_epoch};
    return *rows[static_cast<std::size_t>(kind)];
}

namespace {

/// In a dynamic window one target is reached by several routes: while anything of the epoch travels
/// there, or of one before what keeps its order, nothing goes the direct path beside it.
bool travels(const EpochSurroundings& with, const PeerEpoch& peer) noexcept
{
    if (!rules::may_go_beside(with.dynamic, peer.outstanding)) {
        return true;
    }
    const Channel* channel = with.dynamic ? with.channels.find(peer.rank) : nullptr;
    return channel != nullptr && !rules::may_combine_at_once(channel->in_order);
}

} // namespace

void note_loss(const EpochSurroundings& with, Epoch& epoch, const PeerEpoch& peer) noexcept
{
    if (with.contacts.target(peer.rank).lost) {
        epoch.failure = Status::lost;
    }
}

void show(const EpochSurroundings& with, const Epoch& epoch, const PeerEpoch& peer) noexcept
{
    const Passage passage = row_of(epoch.kind).passage;
    const bool open =
        epoch.state == EpochState::active_open && peer.lets_begin() && !travels(with, peer);
    if (passage == Passage::operations_to_all) {
        // Without a member, operations go where those towards it are refused.
        const bool to_all = open && !epoch.failed_for_all() && !with.contacts.broken();
        with.mapped.open_all(to_all, epoch.concurrent);
    } else if (passage != Passage::nothing) {
        const Peer& known = with.contacts.peer(peer.rank);
        if (known.epoch != nullptr && known.epoch != &epoch) { // a later one is open already
            show(with, *known.epoch, known.epoch->peers[known.index]);
            return;
        }
        Target& target = with.contacts.target(peer.rank);
        const bool reachable = open && !target.lost;
        with.mapped.open(target,
                         {.reachable = reachable,
                          .flushable = reachable && rules::may_flush_unseen(
                                                        passage == Passage::operations_and_flushes,
                                                        peer.to_be_flushed),
                          .concurrent = epoch.concurrent});
    }
}

} // namespace sidelight::rma
