// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/list.hpp"
#include "base/pool.hpp"
#include "rma/attention.hpp"
#include "rma/epoch/early_return.hpp"

namespace sidelight::rma {

/// What a request has waited for is over. It tells the failure, or one that it has been given
/// before.
inline void conclude(Request* request, Status failure) noexcept
{
    if (request != nullptr && failure != Status::ok) {
        request->status = failure;
    }
    finish(request);
}

/// The epochs of one window: opening, activation in order, closing, completion (P1, VI and VII).
/// Diagram: docs/design/epochs.md.
///
/// An epoch that is granted everywhere as soon as it is opened, and in which nothing is recorded,
/// is not in the queue: until it is closed it is what the direct path reads, and no more. Most
/// epochs on mapped memory live and end so. Guarded by the engine.
class EpochQueue final : public EarlyObserver {
public:
    using All = List<Epoch, &Epoch::in_queue>;
    using Alike = List<Epoch, &Epoch::among_alike>;

    EpochQueue(const EpochSurroundings& with, Pool<Epoch>& pool, Attention& attention,
               const Reorder& reorder) noexcept
        : with_(with), pool_(pool), attention_(attention), reorder_(reorder), early_(with)
    {
        with_.early.observe(*this);
    }
    ~EpochQueue() { with_.early.forget(*this); }
    EpochQueue(const EpochQueue&) = delete;
    EpochQueue& operator=(const EpochQueue&) = delete;

    /// A new epoch whose peers are to be named, by `PeerEpoch::begin`, before it is opened. Null:
    /// no memory.
    [[nodiscard]] Epoch* take(EpochKind kind, std::size_t peers) noexcept;
    /// Takes one more peer into an open lock_all epoch that needs no places, so that it is granted
    /// as soon as it is active. Lost ones are refused.
    Status add_peer(Epoch& epoch, int rank) noexcept;
    /// Opens it. Where its peers may be quick it asks them up to `polls` times for their grants.
    void open(Epoch& epoch, int polls = 0) noexcept;
    /// Closes it; `request` completes with it. `polls`: likewise for what it still waits for.
    /// `waits`: the calling thread waits for the request. What is opened meanwhile is another
    /// thread's, which a thread that is blocked must not hold up.
    void close(Epoch& epoch, Request* request, int polls = 0, bool waits = false) noexcept;
    /// The request of a closed access may complete as soon as its data are kept, from now on.
    void let_return_early(Epoch& epoch) noexcept;

    /// Does what can be done for active epochs. Answers whether anything moved.
    bool advance_active() noexcept;
    /// Activates in opening order whatever may be, but exposures before locks.
    bool activate_deferred() noexcept;

    /// Whether access is granted, as far as this member can see now.
    [[nodiscard]] bool is_granted(Epoch& epoch, PeerEpoch& peer) noexcept;
    /// Performs what was recorded, in order of issue, as far as it may be.
    void replay(const Epoch& epoch, PeerEpoch& peer) noexcept;
    /// Something is recorded in it.
    void enlist(Epoch& epoch) noexcept;
    /// One was opened, or is complete, without this.
    void note_opened() noexcept { ++pending_; }
    void note_completed() noexcept { --pending_; }
    /// An epoch that was taken and is not in the queue is needed no more.
    void give_back(Epoch& epoch) noexcept { pool_.give_back(&epoch); }
    /// A completed epoch stays as long as answers to its operations are counted in it.
    void give_back_if_over(Epoch& epoch) noexcept;

    void set_reorder(const Reorder& reorder) noexcept { reorder_ = reorder; }

    [[nodiscard]] EarlyReturn& early() noexcept { return early_; }
    void any_early(bool any) noexcept override { holding_back_ += any ? 1 : std::size_t{0} - 1; }

    /// Openings and closings so far.
    [[nodiscard]] std::uint64_t clock() const noexcept { return clock_; }
    /// Epochs opened and not yet completed inside, open ones included.
    [[nodiscard]] std::size_t pending() const noexcept { return pending_; }
    /// Whether nothing but the program's next call lets any of them go on.
    [[nodiscard]] bool settled() const noexcept
    {
        return unsettled_ == 0 && first_deferred_ == nullptr;
    }
    /// Whether one that is opened now is active at once.
    [[nodiscard]] bool idle() const noexcept
    {
        return first_deferred_ == nullptr && holding_back_ == 0 && ungranted_locks_ == 0;
    }
    [[nodiscard]] bool any_deferred() const noexcept { return first_deferred_ != nullptr; }
    /// Whether the last epoch of the window is complete.
    [[nodiscard]] bool closed() const noexcept { return closed_for_good_; }
    /// Those in the queue, in opening order.
    [[nodiscard]] const All& all() const noexcept { return queue_; }
    /// Of these, those that are open.
    [[nodiscard]] const Alike& open_ones() const noexcept { return open_; }

private:
    [[nodiscard]] bool may_activate(const Epoch& epoch) const noexcept;
    [[nodiscard]] bool held_back(const Epoch& epoch) const noexcept;
    void activate(Epoch& epoch) noexcept;
    bool advance(Epoch& epoch) noexcept;
    bool advance_at(Epoch& epoch, PeerEpoch& peer) noexcept;
    [[nodiscard]] static bool may_complete(const Epoch& epoch) noexcept
    {
        return epoch.state == EpochState::active_closed && epoch.peers_done == epoch.peers.size();
    }
    bool poll_grant(Epoch& epoch, PeerEpoch& peer) noexcept;
    void hold_back_later(Epoch& epoch, HoldsBack what) noexcept;
    void hold_back_no_more(Epoch& epoch) noexcept;
    [[nodiscard]] bool may_ask(const Epoch& epoch) const noexcept;
    bool return_early(Epoch& epoch) noexcept;
    bool return_waiting() noexcept;
    void finish_at(Epoch& epoch, PeerEpoch& peer) noexcept;
    void complete(Epoch& epoch) noexcept;
    void count(Epoch& epoch) noexcept;

    EpochSurroundings with_;
    Pool<Epoch>& pool_;
    Attention& attention_;
    Reorder reorder_;
    std::uint64_t clock_ = 0;
    std::size_t pending_ = 0;
    std::size_t unsettled_ = 0;         ///< active epochs that need progress
    std::uint64_t ungranted_locks_ = 0; ///< active epochs that wait for a lock
    std::uint64_t awaited_locks_ = 0;   ///< of these, those that a thread waits for in its call
    std::size_t holding_back_ = 0;      ///< closed epochs; and early ones in any window
    std::size_t waiting_to_return_ = 0; ///< epochs that may return early
    bool closed_for_good_ = false;
    Epoch* first_deferred_ = nullptr;
    Epoch* first_other_ = nullptr; ///< of the deferred ones, that is no lock
    EarlyReturn early_;
    All queue_;
    Alike open_;                  ///< of those in the queue
    Alike closed_[epoch_classes]; ///< those that nobody waits for
};

} // namespace sidelight::rma
