// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/interrupt_thread.hpp"

#include <algorithm>
#include <chrono>

namespace sidelight::host::node {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// While nothing is asked for that memory tells, nothing but a call, a message or a summons can
/// matter.
constexpr std::chrono::nanoseconds for_good = std::chrono::hours(24);

std::uint64_t nanoseconds(Clock::duration time) noexcept
{
    return static_cast<std::uint64_t>(time / std::chrono::nanoseconds(1));
}

/// Written by one thread: no atomic instruction.
void add(std::atomic<std::uint64_t>& count, std::uint64_t more = 1) noexcept
{
    count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

} // namespace

bool InterruptThread::start(Waiter& waiter, Recall& recall, const OwnThreadWork& work) noexcept
{
    if (runs()) {
        return true;
    }
    waiter_ = &waiter;
    recall_ = &recall;
    recall.begin();
    waiter.expect_long_sleeps();
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
    sweep(); // what was asked for before there was anybody to call
    while (!stopping_.load(std::memory_order_seq_cst)) {
        const bool asks = (waiter_->interest().events() & ~message_event) != no_events;
        // UCX (1.13, TCP) does not wake whom a first connection comes to.
        const bool listens = waiter_->listens();
        knows_of_more_ = work_.has_more();
        const bool looks_by_itself = knows_of_more_ || waiter_->is_deaf();
        const std::chrono::nanoseconds longest = looks_by_itself   ? longest_busy_sleep
                                                 : asks || listens ? longest_deaf_sleep
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
        const std::uint64_t now = nanoseconds(Clock::now().time_since_epoch());
        const std::uint64_t called = interest.called_at();
        const std::uint64_t delay = now > called ? now - called : 0;
        add(counts_.calls);
        add(counts_.delay_ns, delay);
        counts_.longest_ns.store(
            std::max(counts_.longest_ns.load(std::memory_order_relaxed), delay),
            std::memory_order_relaxed);
    } else if (by == Roused::by_message) {
        add(counts_.messages);
    }
    const bool came = work_.program_came(); // while the thread slept
    // Where somebody inside has answered the call meanwhile there is nothing to be looked at.
    const bool answered = by == Roused::by_call && !interest.is_called();
    const bool moved = !answered && sweep();
    const bool futile = !moved && (by == Roused::by_call || by == Roused::by_message);
    if (futile) {
        add(counts_.futile);
    }
    if (came || futile) {
        stand_back();
    } else if (by == Roused::not_asleep && !moved && interest.is_called()) {
        recall_->nap(longest_busy_sleep); // a look is owed, and the engine refused: it may stay so
    }
}

bool InterruptThread::sweep() noexcept
{
    const Clock::time_point begin = Clock::now();
    const bool moved = work_.sweep();
    if (moved) {
        recall_->has_moved();
    }
    add(counts_.busy_ns, nanoseconds(Clock::now() - begin));
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
        add(counts_.naps);
        tries = !tries && next > 2 * trial && (crowded || recall_->computes());
        next = tries ? next : std::min(2 * next, longest_nap);
    } while (!stopping_.load(std::memory_order_relaxed) && !recalled && work_.program_came());
    sweep();
    if (interest.leave_as_it_is()) {
        sweep();
    }
}

} // namespace sidelight::host::node
