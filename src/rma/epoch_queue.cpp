// SPDX-License-Identifier: BSD-3-Clause
#include <new>
#include <utility>

#include "rma/process.hpp"
#include "rma/window.hpp"

/// The queue of epochs of a window: opening, activation in order, closing, completion (P1, VI,
/// VII).
namespace sidelight::rma {

namespace {

constexpr std::size_t index_of(EpochClass kind) noexcept { return static_cast<std::size_t>(kind); }

} // namespace

/// An epoch that is not in the queue yet; its parts are to be filled in, then `opened`.
Epoch* Window::open(EpochKind kind, std::size_t parts) noexcept
{
    Epoch* epoch = process_.epochs_.take();
    if (epoch == nullptr) {
        return nullptr;
    }
    try {
        epoch->parts.resize(parts);
    } catch (const std::bad_alloc&) {
        process_.epochs_.give_back(epoch);
        return nullptr;
    }
    for (Part& part : epoch->parts) {
        part = {};
    }
    epoch->kind = kind;
    epoch->state = EpochState::deferred_open;
    epoch->reorder = reorder_;
    epoch->no_check = false;
    epoch->parts_asked = 0;
    epoch->parts_granted = 0;
    epoch->parts_done = 0;
    epoch->unanswered = 0;
    epoch->last = false;
    epoch->closed_at = 0;
    epoch->barrier_in = 0;
    epoch->barrier_out = 0;
    epoch->opening = nullptr;
    epoch->closing = nullptr;
    epoch->failure = Status::ok;
    return epoch;
}

/// A light lock or access becomes an epoch, as if it had been one from the start: the oldest of the
/// window, active and granted, with the place or the numbers that it has.
Status Window::weigh(Target& target, int rank) noexcept
{
    if (target.light == Light::access) {
        access_ = LightEpochs::access_fully(*this);
        return access_ != nullptr ? Status::ok : Status::no_memory;
    }
    Epoch* epoch = open(EpochKind::lock, 1);
    if (epoch == nullptr) {
        return Status::no_memory;
    }
    epoch->lock_type = target.light_type;
    epoch->state = next_state(epoch->state, EpochEvent::activate);
    epoch->opened_at = 0;
    epoch->parts[0].rank = rank;
    epoch->parts[0].granted = true;
    epoch->parts_granted = 1;
    queue_.push_front(epoch);
    ++pending_;
    target.light = Light::none;
    target.epoch = epoch;
    target.part = 0;
    return Status::ok;
}

void Window::opened(Epoch& epoch) noexcept
{
    epoch.opened_at = ++clock_;
    used_.store(false, relaxed);
    queue_.push(&epoch);
    ++pending_;
    if (first_deferred_ == nullptr) {
        first_deferred_ = &epoch;
        activate_deferred();
    }
}

/// Activates in opening order whatever may be; none is skipped.
bool Window::activate_deferred() noexcept
{
    bool moved = false;
    while (first_deferred_ != nullptr && may_activate(*first_deferred_)) {
        Epoch& epoch = *first_deferred_;
        first_deferred_ = decltype(queue_)::after(epoch);
        activate(epoch);
        moved = true;
    }
    update_busy();
    return moved;
}

bool Window::may_activate(const Epoch& epoch) const noexcept
{
    return !held_back(epoch) && (!epoch.last || unfinished_ == 0) &&
           (!epoch.passive() || rules::may_ask_for_lock(ungranted_locks_, epoch.reorder));
}

/// Only epochs closed before this one was opened can hold it back: those still open then overlap
/// with it by the program's own will (exposure and access at once, locks at several targets).
bool Window::held_back(const Epoch& epoch) const noexcept
{
    for (int other = 0; holding_back_ != 0 && other < epoch_classes; ++other) {
        const Epoch* oldest = closed_[other].front();
        if (oldest != nullptr && oldest->closed_at < epoch.opened_at &&
            !rules::may_overlap(static_cast<EpochClass>(other), class_of(epoch.kind),
                                epoch.reorder)) {
            return true;
        }
    }
    return false;
}

void Window::activate(Epoch& epoch) noexcept
{
    epoch.state = next_state(epoch.state, EpochEvent::activate);
    ungranted_locks_ += epoch.passive() ? 1 : 0;
    for (Part& part : epoch.parts) {
        enter_part(epoch, part);
    }
    advance(epoch);
}

/// Does all that an active epoch can do now.
Window::Advance Window::advance(Epoch& epoch) noexcept
{
    bool moved = false;
    const bool closed = epoch.state == EpochState::active_closed;
    for (Part& part : epoch.parts) {
        if (!part.granted) {
            moved |= poll_grant(epoch, part);
        }
        if (closed && !part.done) {
            moved |= finish_part(epoch, part);
        }
    }
    if (closed && epoch.parts_done == epoch.parts.size()) {
        complete_epoch(epoch);
        return Advance::completed;
    }
    count(epoch);
    return moved ? Advance::moved : Advance::none;
}

void Window::close_epoch(Epoch& epoch, Request* request) noexcept
{
    for (Part& part : epoch.parts) {
        set_direct(epoch, part, false);
    }
    epoch.state = next_state(epoch.state, EpochEvent::close);
    epoch.closed_at = ++clock_;
    waited_for_ = ages_;
    epoch.closing = request;
    if (epoch.active() && advance(epoch) == Advance::completed) {
        activate_deferred();
        return;
    }
    hold_back_later(epoch);
}

/// A closed epoch that is not completed: those opened from now on may have to wait for it.
void Window::hold_back_later(Epoch& epoch) noexcept
{
    closed_[index_of(class_of(epoch.kind))].push(&epoch);
    epoch.holds_back = true;
    ++holding_back_;
}

void Window::complete_epoch(Epoch& epoch) noexcept
{
    epoch.state = next_state(epoch.state, EpochEvent::complete);
    count(epoch);
    queue_.remove(&epoch);
    if (epoch.holds_back) {
        closed_[index_of(class_of(epoch.kind))].remove(&epoch);
        epoch.holds_back = false;
        --holding_back_;
    }
    --pending_;
    is_closed_ = is_closed_ || epoch.last;
    Request* closing = epoch.closing;
    Status failure = epoch.failure;
    for (Part& part : epoch.parts) {
        const Status untold = take_failure(part);
        failure = failure == Status::ok ? untold : failure;
    }
    give_back_if_over(epoch);
    conclude(closing, failure);
}

/// A completed epoch stays as long as answers to its operations are counted in it.
void Window::give_back_if_over(Epoch& epoch) noexcept
{
    if (epoch.state == EpochState::completed && epoch.unanswered == 0) {
        process_.epochs_.give_back(&epoch);
    }
}

/// Keeps the number of epochs that a sweep has to look at.
void Window::count(Epoch& epoch) noexcept
{
    const bool needs_progress = epoch.active() && !settled(epoch);
    if (needs_progress != epoch.counted) {
        epoch.counted = needs_progress;
        unsettled_ += needs_progress ? 1 : std::size_t{0} - 1;
        update_busy();
    }
}

/// Open and granted everywhere: nothing happens to it before the program's next call.
bool Window::settled(const Epoch& epoch) const noexcept
{
    return epoch.state == EpochState::active_open && epoch.parts_granted == epoch.parts.size();
}

/// A fence epoch in which nothing was issued ends, without a barrier, when another epoch is opened
/// (MPI-4.1, 12.5.1: it was none).
void Window::leave_fence() noexcept
{
    if (fence_ != nullptr) {
        close_epoch(*std::exchange(fence_, nullptr), nullptr);
    }
}

} // namespace sidelight::rma
