// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/synchronization.hpp"

#include <utility>

#include "base/log.hpp"
#include "rma/epoch/exposure.hpp"
#include "rma/rules.hpp"

namespace sidelight::rma {

/// Ends the fence epoch that is open, if any, and opens the next one. Each call of a window is one
/// barrier, whatever it ends or opens, so that all members count alike. The barrier holds the
/// request back unless the program says that the call ends nothing (MPI_MODE_NOPRECEDE).
Status Synchronization::fence(Assertion assertion, Request* request, bool waits, int polls) noexcept
{
    if (open_.any_access() || open_.exposure != nullptr) {
        return Status::rma_sync;
    }
    const bool ends_nothing = assertion.no_precede && !fence_in_use() && flavor_ != Flavor::shared;
    Epoch* ending = ends_nothing ? nullptr : open_.fence;
    Epoch* next = nullptr;
    if (ending == nullptr || !assertion.no_succeed) {
        next = take_fence();
        if (next == nullptr) {
            return Status::no_memory;
        }
        next->barriers.in = open_.barriers + 1;
        next->concurrent = assertion.concurrent;
    }
    ++open_.barriers;
    if (ending != nullptr) {
        ending->barriers.out = open_.barriers;
        ending->early = waits ? ending->early : Early::at_once;
        open_.fence = nullptr;
        queue_.close(*ending, request, polls);
    } else {
        leave_fence();
        next->opening = ends_nothing ? nullptr : request;
    }
    if (next != nullptr) {
        with_.mapped.set_fence_used(false);
        queue_.open(*next);
        if (assertion.no_succeed) {
            queue_.close(*next, nullptr);
        } else {
            open_.fence = next;
        }
    }
    if (ends_nothing) {
        finish(request);
    }
    return Status::ok;
}

Status Synchronization::meet(Request* request) noexcept
{
    const Epoch* open = open_.fence;
    const Assertion as_before{.no_succeed = open == nullptr,
                              .concurrent = open != nullptr && open->concurrent};
    return fence(as_before, request, true, 0);
}

Epoch* Synchronization::take_fence() noexcept
{
    Epoch* epoch = queue_.take(EpochKind::fence, 1);
    if (epoch != nullptr) {
        epoch->peers[0].begin(0);
    }
    return epoch;
}

/// A fence epoch in which nothing was issued ends, without a barrier, when another epoch is opened
/// (MPI-4.1, 12.5.1: it was none).
void Synchronization::leave_fence() noexcept
{
    if (open_.fence != nullptr) {
        queue_.close(*std::exchange(open_.fence, nullptr), nullptr);
    }
}

/// An epoch towards the members of a group, the fence epoch before it left.
Epoch* Synchronization::take_group(EpochKind kind, std::span<const int> ranks) noexcept
{
    return take_group(kind, ranks.size(), [ranks](std::size_t index) { return ranks[index]; });
}

template <class RankOf>
Epoch* Synchronization::take_group(EpochKind kind, std::size_t size, RankOf rank_of) noexcept
{
    for (std::size_t index = 0; index < size; ++index) {
        if (with_.contacts.meet(rank_of(index)) != Status::ok) {
            return nullptr;
        }
    }
    Epoch* epoch = queue_.take(kind, size);
    if (epoch != nullptr) {
        for (std::size_t index = 0; index < size; ++index) {
            epoch->peers[index].begin(rank_of(index));
        }
        leave_fence();
    }
    return epoch;
}

/// Operations on its peers belong to it from now on.
void Synchronization::open_for_operations(Epoch& epoch, int polls) noexcept
{
    for (std::uint32_t index = 0; index < epoch.peers.size(); ++index) {
        with_.contacts.peer(epoch.peers[index].rank).lead_to(&epoch, index);
    }
    queue_.open(epoch, polls);
}

void Synchronization::close_for_operations(Epoch*& epoch, Request* request, int polls,
                                           bool waits) noexcept
{
    for (const PeerEpoch& peer : epoch->peers) {
        with_.contacts.peer(peer.rank).lead_to(nullptr);
    }
    queue_.close(*std::exchange(epoch, nullptr), request, polls, waits);
}

Status Synchronization::post(std::span<const int> origins, Request* request) noexcept
{
    if (open_.exposure != nullptr || fence_in_use()) {
        return Status::rma_sync;
    }
    Epoch* epoch = take_group(EpochKind::exposure, origins);
    if (epoch == nullptr) {
        return Status::no_memory;
    }
    open_.exposure = epoch;
    queue_.open(*epoch);
    finish(request);
    return Status::ok;
}

Status Synchronization::start(std::span<const int> targets, Assertion assertion, Request* request,
                              int polls) noexcept
{
    if (open_.any_access() || fence_in_use()) {
        return Status::rma_sync;
    }
    Epoch* epoch = take_group(EpochKind::access, targets);
    if (epoch == nullptr) {
        return Status::no_memory;
    }
    epoch->no_check = assertion.no_check;
    epoch->concurrent = assertion.concurrent;
    open_.access = epoch;
    open_for_operations(*epoch, polls);
    finish(request);
    return Status::ok;
}

Status Synchronization::complete(Request* request, bool may_return_early, int polls) noexcept
{
    Epoch* epoch = open_.access;
    if (epoch == nullptr) {
        return Status::rma_sync;
    }
    const bool early = may_return_early && queue_.early().wanted();
    epoch->early = may_return_early ? epoch->early : Early::at_once;
    close_for_operations(open_.access, request, early ? polls : 0, may_return_early);
    if (early && !request->complete) {
        queue_.let_return_early(*epoch);
    }
    return Status::ok;
}

Status Synchronization::wait(Request* request, int polls, bool waits) noexcept
{
    if (open_.exposure == nullptr) {
        return Status::rma_sync;
    }
    queue_.close(*std::exchange(open_.exposure, nullptr), request, polls, waits);
    return Status::ok;
}

Status Synchronization::test(bool& flag) noexcept
{
    if (open_.exposure == nullptr) {
        return Status::rma_sync;
    }
    const bool active = open_.exposure->active();
    const OthersOffers::Sweep sweep(with_.others_offers);
    flag = active;
    bool is_lost = false;
    for (const PeerEpoch& peer : open_.exposure->peers) {
        // Of all: each may have offered something.
        if (active && !exposure_over(with_, peer)) {
            const bool lost = with_.contacts.target(peer.rank).lost;
            is_lost |= lost;
            flag &= lost;
        }
    }
    if (flag) {
        queue_.close(*std::exchange(open_.exposure, nullptr), nullptr);
    }
    return flag && is_lost ? Status::lost : Status::ok;
}

Status Synchronization::lock(LockType type, int target, Assertion assertion, Request* request,
                             bool grant_waited) noexcept
{
    if (!with_.contacts.is_rank(target)) {
        return Status::rank;
    }
    if (!with_.allows(type)) {
        log(LogLevel::info, "an exclusive lock of a window that was made for none "
                            "(sidelight_no_exclusive_locks): it is refused");
        return Status::lock_type;
    }
    if (Status status = with_.contacts.reach(target); status != Status::ok) {
        return status;
    }
    Peer& locked = with_.contacts.peer(target);
    if (locked.epoch != nullptr || open_.access != nullptr || open_.lock_all != nullptr ||
        fence_in_use()) {
        return Status::rma_sync;
    }
    Epoch* epoch = queue_.take(EpochKind::lock, 1);
    if (epoch == nullptr) {
        return Status::no_memory;
    }
    leave_fence();
    epoch->lock_type = type;
    epoch->grant_waited = grant_waited;
    epoch->concurrent = assertion.concurrent;
    epoch->no_check = !rules::takes_place(type, assertion.no_check, with_.no_exclusive_locks);
    epoch->peers[0].begin(target);
    locked.lead_to(epoch);
    ++open_.locks;
    queue_.open(*epoch);
    finish(request);
    return Status::ok;
}

Status Synchronization::unlock(int target, Request* request, bool waits) noexcept
{
    if (!with_.contacts.is_rank(target)) {
        return Status::rank;
    }
    if (!with_.contacts.is_met(target)) {
        return Status::rma_sync;
    }
    Peer& locked = with_.contacts.peer(target);
    if (locked.epoch == nullptr || locked.epoch->kind != EpochKind::lock) {
        return Status::rma_sync;
    }
    --open_.locks;
    locked.epoch->early = waits ? locked.epoch->early : Early::at_once;
    queue_.close(*std::exchange(locked.epoch, nullptr), request, 0, waits);
    return Status::ok;
}

/// Where places are needed every member is a peer, in rank order. Else nobody is asked: the peers
/// are those on this node, and others when something is issued.
Status Synchronization::lock_all(Assertion assertion, Request* request, bool grant_waited) noexcept
{
    if (open_.any_access() || fence_in_use()) {
        return Status::rma_sync;
    }
    const bool places =
        rules::takes_place(LockType::shared, assertion.no_check, with_.no_exclusive_locks);
    Epoch* epoch = places ? take_group(EpochKind::lock_all, with_.contacts.size(),
                                       [](std::size_t rank) { return static_cast<int>(rank); })
                          : take_group(EpochKind::lock_all, with_.contacts.neighbours());
    if (epoch == nullptr) {
        return Status::no_memory;
    }
    epoch->lock_type = LockType::shared;
    epoch->no_check = !places;
    epoch->grant_waited = grant_waited;
    epoch->concurrent = assertion.concurrent;
    open_.lock_all = epoch;
    if (places) { // each is found by its rank
        queue_.open(*epoch);
    } else {
        open_for_operations(*epoch);
    }
    finish(request);
    return Status::ok;
}

Status Synchronization::unlock_all(Request* request, bool waits) noexcept
{
    if (open_.lock_all == nullptr) {
        return Status::rma_sync;
    }
    if (open_.lock_all->no_check) {
        close_for_operations(open_.lock_all, request, 0, waits);
    } else {
        queue_.close(*std::exchange(open_.lock_all, nullptr), request, 0, waits);
    }
    return Status::ok;
}

Status Synchronization::await_grant(int target, Request* request) noexcept
{
    Epoch* const to_all = open_.access != nullptr ? open_.access : open_.lock_all;
    Epoch* epoch = target == all_targets ? to_all : open_.find(with_.contacts, target).epoch;
    if (epoch == nullptr || epoch->kind == EpochKind::fence) {
        return Status::rma_sync;
    }
    if (epoch->granted_by_all()) {
        finish(request);
    } else {
        epoch->opening = request;
    }
    return Status::ok;
}

Status Synchronization::close(Request* request, bool whatever_is_open) noexcept
{
    const bool any_open = open_.any_access() || open_.exposure != nullptr || fence_in_use();
    if (any_open && !whatever_is_open) {
        return Status::rma_sync;
    }
    Epoch* last = take_fence();
    if (last == nullptr) {
        return Status::no_memory;
    }
    leave_fence();
    last->barriers.in = ++open_.barriers;
    last->last = true;
    with_.credit.set_awaited(true);
    with_.credit.request_all();
    queue_.open(*last);
    queue_.close(*last, request);
    return Status::ok;
}

} // namespace sidelight::rma
