// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/epoch_queue.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "rma/early_return_rules.hpp"
#include "rma/epoch/memory_poll.hpp"
#include "rma/rules.hpp"

namespace sidelight::rma {

namespace {

constexpr std::size_t index_of(EpochClass kind) noexcept { return static_cast<std::size_t>(kind); }

/// Why the epoch, or an operation in it that nothing else has told of, was not performed.
Status failure_of(const Epoch& epoch) noexcept
{
    Status failure = epoch.failure;
    for (const PeerEpoch& peer : epoch.peers) {
        failure = failure == Status::ok ? peer.failure : failure;
    }
    return failure;
}

void note(const trace::Track& trace, trace::Event event, const Epoch& epoch, int peer,
          std::uint64_t value) noexcept
{
    const bool exclusive = epoch.kind == EpochKind::lock && epoch.lock_type == LockType::exclusive;
    const unsigned kind = static_cast<unsigned>(epoch.kind) | (exclusive ? trace::exclusive : 0);
    trace.note({.event = event,
                .detail = static_cast<std::uint8_t>(kind),
                .peer = peer,
                .epoch = static_cast<std::uint32_t>(epoch.opened_at),
                .value = value});
}

/// A fence epoch has one peer, which stands for all.
int rank_of(const Epoch& epoch, const PeerEpoch& peer) noexcept
{
    return epoch.kind == EpochKind::fence ? -1 : peer.rank;
}

/// All that was recorded is over, by another process; or died with it.
void conclude_offered(const EpochSurroundings& with, Epoch& epoch, PeerEpoch& peer,
                      Status status) noexcept
{
    while (!peer.recorded.empty()) {
        with.operations.conclude(*peer.recorded.pop(), status);
    }
    const auto performed = row_of(epoch.kind).performed;
    if (status == Status::ok && performed != nullptr) {
        performed(with, epoch, peer);
    }
}

/// To all targets that it waits for. One that has granted it meanwhile may not have seen the offer:
/// false, and the call, which waits on, performs it.
bool offer_all(const EpochSurroundings& with, Epoch& epoch) noexcept
{
    const EpochKindRow& row = row_of(epoch.kind);
    return std::all_of(epoch.peers.begin(), epoch.peers.end(), [&](PeerEpoch& peer) {
        return peer.done ||
               ((with.offers.is_made(epoch, peer) || with.offers.make(epoch, peer, true)) &&
                !row.granted(with, epoch, peer));
    });
}

/// Something is still to be waited for, or done, towards it.
bool is_unfinished(const Epoch& epoch, const PeerEpoch& peer) noexcept
{
    return !peer.granted || (!epoch.open() && !peer.done);
}

/// From there on in the queue.
[[nodiscard]] Epoch* first_no_lock(Epoch* epoch) noexcept
{
    while (epoch != nullptr && epoch->passive()) {
        epoch = EpochQueue::All::after(*epoch);
    }
    return epoch;
}

[[nodiscard]] bool asks_places(const Epoch& epoch) noexcept
{
    return epoch.kind == EpochKind::lock_all && !epoch.no_check;
}

/// Behind the last peer that can have granted it: lock_all asks one after the other.
[[nodiscard]] std::size_t end_of_asked(const Epoch& epoch) noexcept
{
    return asks_places(epoch) ? epoch.peers_asked : epoch.peers.size();
}

/// No peer before it is unfinished: in rank order lock_all is granted, too, unless it has asked all
/// at once.
[[nodiscard]] std::size_t first_unfinished(const Epoch& epoch) noexcept
{
    const bool in_order = asks_places(epoch) && !epoch.reorder.access_after_access;
    const bool finished = epoch.open() || epoch.peers_done == epoch.peers_granted;
    return in_order && finished ? epoch.peers_granted : 0;
}

/// Performs what was recorded, or, of what is known to fail, tells it.
void begin(const EpochSurroundings& with, const Epoch& epoch, Op& op) noexcept
{
    if (with.contacts.target(op.operation.target).lost || epoch.failed_for_all()) [[unlikely]] {
        with.operations.conclude(op, Status::lost);
    } else {
        with.operations.execute(op);
    }
}

/// Of a fence, which has targets of all kinds, first what goes to other nodes, as far as the first
/// that others wait for. No more comes in an epoch that is closed, so nothing is held back for it.
void begin_distant(const EpochSurroundings& with, const Epoch& epoch, PeerEpoch& peer) noexcept
{
    bool any = false;
    bool gated = false;
    peer.replaying = true;
    peer.recorded.remove_if([&](Op& op) {
        gated = gated || op.gates;
        const bool goes_first = !gated && !with.contacts.is_near(op.operation.target);
        if (goes_first) {
            any = true;
            begin(with, epoch, op);
        }
        return goes_first;
    });
    peer.replaying = false;
    Carrier& carrier = with.channels.carrier();
    if (any && !epoch.open()) {
        carrier.let_leave();
    }
    carrier.push();
}

/// Whether what it waits for can come while only memory is polled: no message has to be received,
/// and none to leave.
bool comes_by_memory(const EpochSurroundings& with, const Epoch& epoch) noexcept
{
    return std::all_of(epoch.peers.begin(), epoch.peers.end(), [&](const PeerEpoch& peer) {
        const bool near = epoch.kind == EpochKind::fence ? with.barrier.shape().one_node()
                                                         : with.contacts.is_near(peer.rank);
        return near && peer.outstanding == 0;
    });
}

} // namespace

Epoch* EpochQueue::take(EpochKind kind, std::size_t peers) noexcept
{
    Epoch* epoch = pool_.take();
    if (epoch == nullptr) {
        return nullptr;
    }
    if (epoch->peers.size() != peers) {
        try {
            epoch->peers.resize(peers);
        } catch (const std::bad_alloc&) {
            pool_.give_back(epoch);
            return nullptr;
        }
    }
    epoch->begin(kind);
    return epoch;
}

Status EpochQueue::add_peer(Epoch& epoch, int rank) noexcept
{
    if (Status status = with_.contacts.reach(rank); status != Status::ok) {
        return status;
    }
    const auto index = static_cast<std::uint32_t>(epoch.peers.size());
    try {
        epoch.peers.emplace_back().begin(rank);
    } catch (const std::bad_alloc&) {
        return Status::no_memory;
    }
    with_.contacts.peer(rank).lead_to(&epoch, index);
    if (epoch.active()) {
        ++ungranted_locks_; // until this one is granted, too
        awaited_locks_ += epoch.grant_waited ? 1 : 0;
        poll_grant(epoch, epoch.peers[index]);
    }
    return Status::ok;
}

void EpochQueue::open(Epoch& epoch, int polls) noexcept
{
    epoch.opened_at = ++clock_;
    epoch.reorder = reorder_;
    epoch.early_at = with_.early.returned();
    ++pending_;
    if (with_.trace) [[unlikely]] {
        note(with_.trace, trace::Event::epoch_opened, epoch,
             epoch.peers.empty() ? -1 : rank_of(epoch, epoch.peers.front()), epoch.peers.size());
    }
    const bool is_next = first_deferred_ == nullptr ||
                         (first_other_ == nullptr && rules::may_pass_locks(epoch.kind));
    if (is_next && may_activate(epoch)) {
        activate(epoch);
        if (!epoch.settled() && comes_by_memory(with_, epoch)) {
            poll_memory(with_, polls, [&] {
                advance(epoch);
                return epoch.settled();
            });
        }
        if (epoch.settled()) { // as exposures, which alone pass others, always are
            return;
        }
    } else {
        first_other_ = first_other_ == nullptr && !epoch.passive() ? &epoch : first_other_;
        if (first_deferred_ == nullptr) {
            first_deferred_ = &epoch;
            attention_.set(Reason::deferred_epoch, true);
        }
    }
    epoch.queued = true;
    ++with_.early.room().waiting;
    queue_.push(&epoch);
    open_.push(&epoch);
    count(epoch);
}

void EpochQueue::enlist(Epoch& epoch) noexcept
{
    if (!epoch.queued) {
        epoch.queued = true;
        ++with_.early.room().waiting;
        queue_.push_front(&epoch); // it is before all that are deferred
        if (epoch.open()) {
            open_.push(&epoch);
        }
    }
}

bool EpochQueue::activate_deferred() noexcept
{
    const auto next = [this]() -> Epoch* {
        if (first_deferred_ != nullptr && may_activate(*first_deferred_)) {
            return first_deferred_;
        }
        const bool passes = first_other_ != nullptr && rules::may_pass_locks(first_other_->kind) &&
                            may_activate(*first_other_);
        return passes ? first_other_ : nullptr;
    };
    bool moved = false;
    while (Epoch* found = next()) {
        Epoch& epoch = *found;
        first_other_ = found == first_other_ ? first_no_lock(All::after(epoch)) : first_other_;
        if (found == first_deferred_) {
            first_deferred_ = All::after(epoch);
        } else {
            queue_.remove(found);
            queue_.push_front(found); // with those that are active
        }
        activate(epoch);
        if (may_complete(epoch)) {
            complete(epoch);
        } else {
            count(epoch);
        }
        moved = true;
    }
    if (moved) {
        attention_.set(Reason::deferred_epoch, first_deferred_ != nullptr);
    }
    return moved;
}

bool EpochQueue::may_activate(const Epoch& epoch) const noexcept
{
    return !held_back(epoch) &&
           (!epoch.last || (with_.operations.unfinished() == 0 && early_.pending() == 0)) &&
           (!epoch.passive() || may_ask(epoch));
}

bool EpochQueue::may_ask(const Epoch& epoch) const noexcept
{
    return rules::may_ask_for_lock(ungranted_locks_ - awaited_locks_, epoch.reorder) &&
           rules::may_lock_after_early(epoch.early_at, with_.early.oldest());
}

/// Only epochs closed before this one was opened can hold it back: those still open then overlap
/// with it by the program's own will (exposure and access at once, locks at several targets).
bool EpochQueue::held_back(const Epoch& epoch) const noexcept
{
    for (int other = 0; holding_back_ != 0 && other < epoch_classes; ++other) {
        const Epoch* oldest = closed_[other].front();
        if (oldest != nullptr && oldest->closed_at < epoch.opened_at &&
            !rules::may_overlap(static_cast<EpochClass>(other), row_of(epoch.kind).ordered_as,
                                epoch.reorder)) {
            return true;
        }
    }
    return false;
}

void EpochQueue::activate(Epoch& epoch) noexcept
{
    epoch.state = next_state(epoch.state, EpochEvent::activate);
    ungranted_locks_ += epoch.passive() ? 1 : 0;
    awaited_locks_ += epoch.grant_waited ? 1 : 0;
    if (with_.trace) [[unlikely]] {
        note(with_.trace, trace::Event::epoch_activated, epoch, -1, 0);
    }
    row_of(epoch.kind).enter(with_, epoch);
    advance(epoch);
}

/// Does all that an active epoch can do now. Answers whether anything moved. What goes to other
/// nodes is on its way before anything is copied inside the node (P1, VII.D).
bool EpochQueue::advance(Epoch& epoch) noexcept
{
    bool moved = false;
    const std::uint64_t barrier_steps = with_.barrier.steps();
    const bool mixed = epoch.peers.size() > 1 && with_.contacts.has_distant();
    if (mixed) {
        for (std::size_t index = first_unfinished(epoch); index < end_of_asked(epoch); ++index) {
            PeerEpoch& peer = epoch.peers[index];
            moved |= is_unfinished(epoch, peer) && !with_.contacts.is_near(peer.rank) &&
                     advance_at(epoch, peer);
        }
        with_.channels.carrier().push();
    }
    for (std::size_t index = first_unfinished(epoch); index < end_of_asked(epoch); ++index) {
        PeerEpoch& peer = epoch.peers[index];
        moved |= is_unfinished(epoch, peer) && (!mixed || with_.contacts.is_near(peer.rank)) &&
                 advance_at(epoch, peer);
    }
    return moved || with_.barrier.steps() != barrier_steps;
}

bool EpochQueue::advance_at(Epoch& epoch, PeerEpoch& peer) noexcept
{
    bool moved = false;
    const bool closed = epoch.state == EpochState::active_closed;
    if (!peer.granted) {
        // What waits for the grant alone is offered to who will give it.
        moved = poll_grant(epoch, peer) ||
                (closed && with_.offers.make(epoch, peer, epoch.early == Early::at_once) &&
                 poll_grant(epoch, peer));
    }
    if (closed && !peer.done && row_of(epoch.kind).finish(with_, epoch, peer)) {
        finish_at(epoch, peer);
        moved = true;
    }
    return moved;
}

/// Nothing is left to do or to wait for there.
void EpochQueue::finish_at(Epoch& epoch, PeerEpoch& peer) noexcept
{
    peer.done = true;
    ++epoch.peers_done;
    if (epoch.early == Early::returned) {
        std::uint64_t& over = with_.contacts.peer(peer.rank).early_over;
        over = std::max(over, peer.number); // with A_A_A_R they may end in any order
    }
}

bool EpochQueue::is_granted(Epoch& epoch, PeerEpoch& peer) noexcept
{
    if (!peer.granted && epoch.active() && poll_grant(epoch, peer)) {
        count(epoch);
    }
    return peer.granted;
}

/// What another process is performing is not granted before it has.
bool EpochQueue::poll_grant(Epoch& epoch, PeerEpoch& peer) noexcept
{
    const EpochKindRow& row = row_of(epoch.kind);
    if (!row.granted(with_, epoch, peer) && !with_.offers.is_performed(epoch, peer)) {
        return false;
    }
    const Offers::Mine mine = with_.offers.take_back(epoch, peer);
    if (mine == Offers::Mine::elsewhere) {
        return false;
    }
    if (mine != Offers::Mine::to_perform) {
        conclude_offered(with_, epoch, peer,
                         mine == Offers::Mine::performed ? Status::ok : Status::lost);
    }
    peer.granted = true;
    ++epoch.peers_granted;
    if (with_.trace) [[unlikely]] {
        note(with_.trace, trace::Event::epoch_granted, epoch, rank_of(epoch, peer),
             epoch.granted_by_all() ? 1 : 0);
    }
    row.enters(with_, epoch, peer);
    if (epoch.kind == EpochKind::fence && with_.contacts.has_distant()) {
        begin_distant(with_, epoch, peer);
    }
    replay(epoch, peer);
    show(with_, epoch, peer);
    if (epoch.granted_by_all()) {
        ungranted_locks_ -= epoch.passive() ? 1 : 0;
        awaited_locks_ -= epoch.grant_waited ? 1 : 0;
        conclude(std::exchange(epoch.opening, nullptr),
                 epoch.failed_for_all() ? epoch.failure : Status::ok);
    }
    return true;
}

/// What ends in there may open a gate: it goes on here, with those behind.
void EpochQueue::replay(const Epoch& epoch, PeerEpoch& peer) noexcept
{
    if (std::exchange(peer.replaying, true)) {
        return;
    }
    while (!peer.recorded.empty() && peer.gates == 0) {
        Op& op = *peer.recorded.pop();
        peer.gates += op.gates ? 1 : 0;
        begin(with_, epoch, op);
    }
    peer.replaying = false;
}

bool EpochQueue::advance_active() noexcept
{
    bool moved = false;
    Epoch* epoch = queue_.front();
    while (epoch != first_deferred_) {
        Epoch* next = All::after(*epoch);
        moved |= !epoch->settled() && advance(*epoch);
        if (may_complete(*epoch)) {
            complete(*epoch);
        } else {
            count(*epoch);
        }
        epoch = next;
    }
    return return_waiting() || moved;
}

void EpochQueue::close(Epoch& epoch, Request* request, int polls, bool waits) noexcept
{
    epoch.state = next_state(epoch.state, EpochEvent::close);
    if (epoch.queued) {
        open_.remove(&epoch);
    }
    epoch.closed_at = ++clock_;
    epoch.closing = request;
    if (with_.trace) [[unlikely]] {
        note(with_.trace, trace::Event::epoch_closed, epoch, -1, 0);
    }
    for (const PeerEpoch& peer : epoch.peers) {
        show(with_, epoch, peer);
    }
    if (epoch.passive()) {
        finish(std::exchange(epoch.opening, nullptr));
    }
    with_.operations.note_waited_for();
    if (epoch.active()) {
        advance(epoch);
        if (!may_complete(epoch) && comes_by_memory(with_, epoch)) {
            poll_memory(with_, polls, [&] {
                advance(epoch);
                return may_complete(epoch);
            });
        }
        if (may_complete(epoch)) {
            complete(epoch);
            activate_deferred();
            return;
        }
    }
    with_.channels.carrier().let_leave();
    enlist(epoch);
    hold_back_later(epoch, waits ? HoldsBack::short_way : HoldsBack::later);
    count(epoch);
}

void EpochQueue::let_return_early(Epoch& epoch) noexcept
{
    epoch.early = Early::asked;
    ++waiting_to_return_;
    if (return_early(epoch)) {
        activate_deferred();
    }
}

/// Where everything is kept that the epoch needs: nobody waits for it any more, and as a whole it
/// holds back none. An epoch that will never return early is no longer asked for.
bool EpochQueue::return_early(Epoch& epoch) noexcept
{
    const bool returns = early_.keep(epoch) && (early_.has_finisher() || offer_all(with_, epoch));
    if (returns) {
        early_.let_return(epoch);
    }
    waiting_to_return_ -= epoch.early == Early::asked ? 0 : 1;
    if (!returns) {
        return false;
    }
    hold_back_no_more(epoch);
    for (const PeerEpoch& peer : epoch.peers) {
        if (epoch.active() && !peer.done) { // else it is told when the number is known
            std::uint64_t& early = with_.contacts.peer(peer.rank).early;
            early = std::max(early, peer.number);
        }
    }
    conclude(std::exchange(epoch.closing, nullptr), Status::ok);
    return true;
}

/// For those that wait, deferred ones among them.
bool EpochQueue::return_waiting() noexcept
{
    bool moved = false;
    Epoch* epoch = waiting_to_return_ != 0 ? queue_.front() : nullptr;
    for (; epoch != nullptr && waiting_to_return_ != 0; epoch = All::after(*epoch)) {
        moved |= epoch->early == Early::asked && return_early(*epoch);
    }
    return moved;
}

/// A closed epoch that is not completed: those opened from now on may have to wait for it.
void EpochQueue::hold_back_later(Epoch& epoch, HoldsBack what) noexcept
{
    if (what == HoldsBack::later) {
        closed_[index_of(row_of(epoch.kind).ordered_as)].push(&epoch);
    }
    epoch.holds_back = what;
    ++holding_back_;
}

void EpochQueue::hold_back_no_more(Epoch& epoch) noexcept
{
    const HoldsBack what = std::exchange(epoch.holds_back, HoldsBack::nothing);
    if (what == HoldsBack::later) {
        closed_[index_of(row_of(epoch.kind).ordered_as)].remove(&epoch);
    }
    holding_back_ -= what != HoldsBack::nothing ? 1 : 0;
}

void EpochQueue::complete(Epoch& epoch) noexcept
{
    epoch.state = next_state(epoch.state, EpochEvent::complete);
    if (with_.trace) [[unlikely]] {
        for (const PeerEpoch& peer : epoch.peers) {
            if (!peer.granted) { // who reads the trace has to know of it: peers count their epochs
                note(with_.trace, trace::Event::epoch_ungranted, epoch, rank_of(epoch, peer), 0);
            }
        }
        note(with_.trace, trace::Event::epoch_completed, epoch, -1, 0);
    }
    count(epoch);
    if (epoch.queued) {
        epoch.queued = false;
        --with_.early.room().waiting;
        queue_.remove(&epoch);
    }
    hold_back_no_more(epoch);
    waiting_to_return_ -= epoch.early == Early::asked ? 1 : 0;
    --pending_;
    Request* closing = std::exchange(epoch.closing, nullptr);
    Status failure = failure_of(epoch);
    if (epoch.early == Early::returned) [[unlikely]] {
        early_.complete(epoch, failure);
    } else if (epoch.last && failure == Status::ok) {
        failure = early_.take_failure(); // there is no later call that could tell
    }
    closed_for_good_ =
        closed_for_good_ || rules::may_be_destroyed(epoch.last, failure != Status::ok);
    give_back_if_over(epoch);
    conclude(closing, failure);
}

void EpochQueue::give_back_if_over(Epoch& epoch) noexcept
{
    if (epoch.state == EpochState::completed && epoch.unanswered == 0) {
        pool_.give_back(&epoch);
    }
}

/// Keeps the number of epochs that a sweep has to look at.
void EpochQueue::count(Epoch& epoch) noexcept
{
    const bool unsettled = epoch.active() && !epoch.settled();
    if (unsettled != epoch.unsettled) {
        epoch.unsettled = unsettled;
        unsettled_ += unsettled ? 1 : std::size_t{0} - 1;
        attention_.set(Reason::unsettled_epoch, unsettled_ != 0);
    }
}

} // namespace sidelight::rma
