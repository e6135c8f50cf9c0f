// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/wanted.hpp"

#include <algorithm>

#include "rma/interest_rules.hpp"

namespace sidelight::rma {

namespace {

using rules::EventClass;

bool has_recorded(const Epoch& epoch) noexcept
{
    return std::any_of(epoch.peers.begin(), epoch.peers.end(),
                       [](const PeerEpoch& peer) { return !peer.recorded.empty(); });
}

bool is_closed(const Epoch& epoch) noexcept { return !epoch.open(); }

/// Whether any of the epochs that are deferred does something when its turn comes.
bool any_deferred_acts(const EpochQueue& queue, const EpochSurroundings& with) noexcept
{
    for (const Epoch* epoch = queue.all().front(); epoch != nullptr;
         epoch = EpochQueue::All::after(*epoch)) {
        if (!epoch->active() &&
            rules::acts_when_activated(epoch->kind, has_recorded(*epoch), is_closed(*epoch),
                                       with.barrier.has_arrived(epoch->barriers.in))) {
            return true;
        }
    }
    return false;
}

Event event_in(const EpochSurroundings& with, EventClass kind, int rank,
               std::uint64_t number) noexcept
{
    return rules::event_of(kind, with.contacts.window(), rank, number);
}

} // namespace

WantedEvents::WantedEvents(bool open_to_messages) noexcept
{
    if (open_to_messages) { // to be served
        wanted_.events |= message_event;
    }
}

void WantedEvents::add(const EpochQueue& queue, const EpochSurroundings& with) noexcept
{
    const bool deferred_act = queue.any_deferred() && any_deferred_acts(queue, with);
    for (const Epoch* epoch = queue.all().front(); epoch != nullptr && epoch->active();
         epoch =
             EpochQueue::All::after(*epoch)) { // deferred ones, maybe many, are behind all others
        if (!epoch->settled()) {
            add_epoch(with, *epoch, deferred_act);
        }
    }
    if (with.locks.anybody_waits()) {
        Event any = event_in(with, EventClass::place, with.contacts.rank(), 0);
        any.any_value = true; // some of them may share a lock
        wanted_.add(any);
    }
}

/// What is not mapped is told by messages.
void WantedEvents::add_epoch(const EpochSurroundings& with, const Epoch& epoch,
                             bool deferred_act) noexcept
{
    const bool closed = is_closed(epoch);
    const bool granted = epoch.granted_by_all();
    const bool holds_back =
        rules::holds_back_work(deferred_act, closed, epoch.passive() && !granted);
    const bool of_grant =
        rules::grant_is_awaited(epoch.kind, has_recorded(epoch), closed, holds_back) ||
        rules::grant_asks_on(epoch.kind, epoch.no_check, epoch.peers_asked == epoch.peers.size());
    const bool of_end = closed && rules::end_is_awaited(holds_back);
    if (epoch.kind == EpochKind::fence) {
        const bool carried = with.barrier.leads();
        const std::uint64_t number = granted ? epoch.barriers.out : epoch.barriers.in;
        if ((granted ? of_end : of_grant) || rules::barrier_is_carried(carried)) {
            wanted_.add(
                event_in(with, carried ? EventClass::arrival : EventClass::passage, 0, number));
        }
        return;
    }
    for (const PeerEpoch& peer : epoch.peers) {
        if (!with.contacts.is_near(peer.rank) || (peer.done && !peer.granted)) {
            continue; // nothing was asked of it, and it has been told so
        }
        if (!peer.granted && of_grant) {
            add_grant(with, epoch, peer);
        } else if (peer.granted && !peer.done && of_end && epoch.kind == EpochKind::exposure) {
            wanted_.add(event_in(with, EventClass::done, peer.rank, peer.number));
            return; // all have to be done: one is asked for after the other
        }
    }
}

void WantedEvents::add_grant(const EpochSurroundings& with, const Epoch& epoch,
                             const PeerEpoch& peer) noexcept
{
    if (!epoch.passive()) {
        if (!peer.recorded.empty() || is_closed(epoch)) {
            wanted_.add(event_in(with, EventClass::grant, peer.rank, peer.number));
        }
    } else if (!epoch.no_check && (epoch.kind == EpochKind::lock || epoch.has_asked(peer))) {
        wanted_.add(event_in(with, EventClass::place, peer.rank, peer.place.ahead),
                    rules::admitted_by_low_half(epoch.lock_type));
    }
}

} // namespace sidelight::rma
