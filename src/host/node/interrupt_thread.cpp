// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/interrupt_thread.hpp"

#include <algorithm>
#include <chrono>

#include "base/clock.hpp"
#include "base/own_count.hpp"

namespace sidelight::host::node {

namespace {

using namespace std::chrono_literals;

/// While nothing is asked for that memory tells, nothing but a call, a message or a summons can
/// matter.
constexpr Time for_good = std::chrono::hours(24);

std::uint64_t nanoseconds(Time time) noexcept { return static_cast<std::uint64_t>(time.count()); }

} // namespace

bool InterruptThread::start(Waiter& waiter, Recall& recall, const OwnThreadWork& work) noexcept
{
    if (runs()) {
        return true;
    }
    waiter_ = &waiter;
    recall_ = &recall;
    recall.begin();
    work_ = work;
    stopping_.store(false, std::memory_order_relaxed);
    thread_ = start_own_thread(
        "interrupt", [](void* self) noexcept { static_cast<InterruptThread*>(self)->run(); }, this);
    return runs();
}

void InterruptThread::stop() noexcept
{
    if (runs()) {
        stopping_.store(true, std::memory_order_seq_cst);
        recall_->end();
        waiter_->summon();
        thread_.join();
    }
}

void InterruptThread::run() noexcept
{
    waiter_->expect_long_sleeps(); // by itself, so none comes before
    sweep();                       // what was asked for before there was anybody to call
    while (!stopping_.load(std::memory_order_seq_cst)) {
        const bool asks = (waiter_->interest().events() & ~message_event) != no_events;
        knows_of_more_ = work_.has_more();
        const bool looks_by_itself = knows_of_more_ || waiter_->is_deaf();
        const Time longest = looks_by_itself ? longest_busy_sleep
                             : asks          ? longest_deaf_sleep
                                             : for_good;
        const Roused by = waiter_->doze_for_call(
            [](void* self) noexcept { return static_cast<InterruptThread*>(self)->must_look(); },
            this, longest);
        if (!stopping_.load(std::memory_order_relaxed)) {
            answer(by);
        }
    }
}

/// What keeps it from going to sleep. What is left from now on, it is told of.
bool InterruptThread::must_look() noexcept
{
    return stopping_.load(std::memory_order_seq_cst) || (!knows_of_more_ && work_.has_more());
}

void InterruptThread::answer(Roused by) noexcept
{
    Interest& interest = waiter_->interest();
    if (by == Roused::by_call) {
        const std::uint64_t roused = nanoseconds(now());
        const std::uint64_t called = interest.called_at();
        const std::uint64_t delay = roused > called ? roused - called : 0;
        add_own(counts_.calls);
        add_own(counts_.delay_ns, delay);
        counts_.longest_ns.store(
            std::max(counts_.longest_ns.load(std::memory_order_relaxed), delay),
            std::memory_order_relaxed);
    } else if (by == Roused::by_message) {
        add_own(counts_.messages);
    }
    const bool came = work_.program_came(); // while the thread slept
    // Where somebody inside has answered the call meanwhile there is nothing to be looked at.
    const bool answered = by == Roused::by_call && !interest.is_called();
    const bool moved = !answered && sweep();
    const bool futile = !moved && (by == Roused::by_call || by == Roused::by_message);
    if (futile) {
        add_own(counts_.futile);
    }
    if (came || futile) {
        stand_back();
    } else if (by == Roused::not_asleep && !moved && interest.is_called()) {
        recall_->nap(longest_busy_sleep); // a look is owed, and the engine refused: it may stay so
    }
}

bool InterruptThread::sweep() noexcept
{
    const Time begin = now();
    const bool moved = work_.sweep();
    if (moved) {
        recall_->has_moved();
    }
    add_own(counts_.busy_ns, nanoseconds(now() - begin));
    return moved;
}

/// While the program calls again and again it looks after everything itself. Meanwhile nobody wakes
/// this thread, neither an event nor a message.
void InterruptThread::stand_back() noexcept
{
    Interest& interest = waiter_->interest();
    interest.enter();
    // Where ranks outnumber cores each look takes the core from another rank, too, and one that
    // is kept from its core does not come by either, for some milliseconds.
    const bool crowded = waiter_->crowded();
    const auto shortest_nap = crowded ? 400us : 25us;
    const auto longest_nap = crowded ? 64'000us : 4'000us;
    const auto trial = crowded ? 4'000us : shortest_nap;
    auto next = shortest_nap;
    bool recalled = false;
    bool tries = false; // whether it computes, which some calls do not tell
    do {
        recalled = recall_->nap(tries ? trial : next);
        add_own(counts_.naps);
        tries = !tries && next > 2 * trial && (crowded || recall_->computes());
        next = tries ? next : std::min(2 * next, longest_nap);
    } while (!stopping_.load(std::memory_order_relaxed) && !recalled && work_.program_came());
    sweep();
    if (interest.leave_as_it_is()) {
        sweep();
    }
}

} // namespace sidelight::host::node
