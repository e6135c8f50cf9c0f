// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/settled_epochs.hpp"

#include <algorithm>
#include <utility>

#include "rma/epoch/memory_poll.hpp"

namespace sidelight::rma {

SettledEpochs::~SettledEpochs()
{
    while (locks_ != nullptr) {
        queue_.give_back(*std::exchange(locks_, locks_->next));
    }
    for (Epoch* kept : {access_, exposure_, lock_all_}) {
        if (kept != nullptr) {
            queue_.give_back(*kept);
        }
    }
}

/// As an epoch is that was opened, and granted by all its peers.
void SettledEpochs::prepare(Epoch& epoch) noexcept
{
    epoch.state = next_state(EpochState::deferred_open, EpochEvent::activate);
    epoch.kept_ready = true;
    epoch.opened_at = 0; // before all that are deferred when something is recorded in it
    for (PeerEpoch& peer : epoch.peers) {
        peer.begin(peer.rank);
        peer.granted = true;
    }
    epoch.peers_granted = static_cast<std::uint32_t>(epoch.peers.size());
}

void SettledEpochs::prepare_lock() noexcept
{
    if (locks_ != nullptr) {
        return;
    }
    if (Epoch* epoch = queue_.take(EpochKind::lock, 1); epoch != nullptr) {
        prepare(*epoch);
        epoch->next = nullptr;
        locks_ = epoch;
    }
}

Epoch* SettledEpochs::take(Epoch*& kept, EpochKind kind, std::size_t peers) noexcept
{
    Epoch* epoch = std::exchange(kept, nullptr);
    if (epoch != nullptr && epoch->peers.size() == peers) {
        return epoch;
    }
    if (epoch != nullptr) {
        queue_.give_back(*epoch);
    }
    epoch = queue_.take(kind, peers);
    if (epoch != nullptr) {
        prepare(*epoch);
    }
    return epoch;
}

inline void SettledEpochs::keep(Epoch*& kept, Epoch& epoch) noexcept
{
    if (kept == nullptr) {
        kept = &epoch;
    } else {
        queue_.give_back(epoch);
    }
}

/// Others may come at the same moment: readers do not count.
bool SettledEpochs::take_places() noexcept
{
    for (std::uint32_t rank = 0; rank < size_; ++rank) {
        if (!is_near(static_cast<int>(rank)) ||
            !peers_[rank].control->lock.is_free(LockType::shared)) {
            return false;
        }
    }
    for (std::uint32_t rank = 0; rank < size_; ++rank) {
        LockQueue& lock = peers_[rank].control->lock;
        while (!lock.try_arrive(LockType::shared)) {
            if (!lock.is_free(LockType::shared)) {
                leave_places(rank);
                return false;
            }
        }
    }
    return true;
}

void SettledEpochs::leave_places(std::uint32_t end) noexcept
{
    for (std::uint32_t rank = 0; rank < end; ++rank) {
        Control& control = *peers_[rank].control;
        if (rules::lets_others_in(control.lock.depart(LockType::shared))) {
            with_.locks.pass_on(static_cast<int>(rank), control);
        }
    }
}

/// In a window without exclusive locks no places are needed, and its epoch has not all as peers.
bool SettledEpochs::lock_all() noexcept
{
    constexpr std::uint32_t most_members = 64; // more are kept ready for nobody
    if (open_.any_access() || !possible() || size_ == 0 || size_ > most_members ||
        with_.contacts.has_distant() || with_.no_exclusive_locks) {
        return false;
    }
    Epoch* epoch = take(lock_all_, EpochKind::lock_all, size_);
    if (epoch == nullptr) {
        return false;
    }
    if (!take_places()) {
        keep(lock_all_, *epoch);
        return false;
    }
    epoch->lock_type = LockType::shared;
    epoch->peers_asked = size_;
    open_.lock_all = epoch;
    queue_.note_opened();
    for (std::uint32_t rank = 0; rank < size_; ++rank) {
        epoch->peers[rank].rank = static_cast<int>(rank);
        with_.mapped.open(targets_[rank], {.reachable = true, .flushable = true});
    }
    return true;
}

bool SettledEpochs::unlock_all() noexcept
{
    Epoch* epoch = open_.lock_all;
    if (epoch == nullptr || epoch->queued || !epoch->kept_ready || with_.contacts.broken()) {
        return false;
    }
    open_.lock_all = nullptr;
    queue_.note_completed();
    with_.operations.note_waited_for();
    for (PeerEpoch& peer : epoch->peers) {
        peer.to_be_flushed = false;
        with_.mapped.open(targets_[peer.rank], {});
    }
    keep(lock_all_, *epoch);
    leave_places(size_);
    return true;
}

/// Between two fence epochs, with nothing recorded in the first, where all members pass the barrier
/// soon: the epoch goes on as the next one, if its messages exclude one another as that one's do.
bool SettledEpochs::fence(int polls) noexcept
{
    Epoch* epoch = open_.fence;
    if (epoch == nullptr || epoch->queued || epoch->concurrent || !queue_.idle() ||
        with_.contacts.broken() || with_.trace || !with_.barrier.shape().one_node() ||
        with_.channels.placing()) {
        return false;
    }
    const std::uint64_t number = open_.barriers + 1;
    with_.barrier.arrive(number); // Synchronization::fence does not repeat it
    if (!poll_memory(with_, polls, [&] { return with_.barrier.passed(number); })) {
        return false;
    }
    open_.barriers = number;
    with_.operations.note_waited_for();
    epoch->barriers.in = number;
    with_.mapped.set_fence_used(false);
    return true;
}

bool SettledEpochs::post(std::span<const int> origins) noexcept
{
    if (open_.exposure != nullptr || !possible() ||
        !std::all_of(origins.begin(), origins.end(), [this](int rank) { return is_near(rank); })) {
        return false;
    }
    Epoch* epoch = take(exposure_, EpochKind::exposure, origins.size());
    if (epoch == nullptr) {
        return false;
    }
    open_.exposure = epoch;
    queue_.note_opened();
    for (std::size_t index = 0; index < origins.size(); ++index) {
        const int rank = origins[index];
        Peer& origin = peers_[rank];
        epoch->peers[index].rank = rank;
        epoch->peers[index].number = ++origin.exposures;
        with_.contacts.publish_grant(rank, origin.exposures);
    }
    return true;
}

bool SettledEpochs::wait(int polls) noexcept
{
    Epoch* epoch = open_.exposure;
    if (epoch == nullptr || epoch->queued || !epoch->kept_ready) {
        return false;
    }
    for (const PeerEpoch& peer : epoch->peers) {
        const auto& done = with_.own().notices(peer.rank).done;
        if (!poll_memory(with_, polls, [&] {
                return rules::exposure_done(peer.number, done.load(std::memory_order_acquire));
            })) {
            return false;
        }
    }
    open_.exposure = nullptr;
    queue_.note_completed();
    keep(exposure_, *epoch);
    return true;
}

bool SettledEpochs::start(std::span<const int> targets, int polls) noexcept
{
    if (open_.any_access() || !possible() ||
        !std::all_of(targets.begin(), targets.end(), [this](int rank) { return is_near(rank); })) {
        return false;
    }
    for (const int rank : targets) {
        const std::uint64_t number = peers_[rank].accesses + 1;
        const auto& granted = with_.own().notices(rank).granted;
        if (!poll_memory(with_, polls, [&] {
                return rules::access_granted(number, granted.load(std::memory_order_acquire));
            })) {
            return false;
        }
    }
    Epoch* epoch = take(access_, EpochKind::access, targets.size());
    if (epoch == nullptr) {
        return false;
    }
    open_.access = epoch;
    queue_.note_opened();
    for (std::uint32_t index = 0; index < targets.size(); ++index) {
        const int rank = targets[index];
        Peer& target = peers_[rank];
        epoch->peers[index].rank = rank;
        epoch->peers[index].number = ++target.accesses;
        target.epoch = epoch;
        target.index = index;
        with_.mapped.open(targets_[rank], {.reachable = true, .flushable = false});
    }
    return true;
}

bool SettledEpochs::complete() noexcept
{
    Epoch* epoch = open_.access;
    if (epoch == nullptr || epoch->queued || !epoch->kept_ready || with_.contacts.broken()) {
        return false;
    }
    open_.access = nullptr;
    queue_.note_completed();
    with_.operations.note_waited_for();
    for (PeerEpoch& peer : epoch->peers) {
        Peer& target = peers_[peer.rank];
        target.epoch = nullptr;
        peer.to_be_flushed = false;
        with_.mapped.open(targets_[peer.rank], {});
        target.done = peer.number;
        with_.contacts.publish_done(peer.rank, target.done);
    }
    keep(access_, *epoch);
    return true;
}

} // namespace sidelight::rma
