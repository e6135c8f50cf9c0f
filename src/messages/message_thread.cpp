// SPDX-License-Identifier: BSD-3-Clause
#include "messages/message_thread.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "base/own_count.hpp"
#include "host/node/own_thread.hpp"
#include "messages/messages.hpp"
#include "messages/rules.hpp"

namespace sidelight::messages {

namespace {

/// With nothing to do the thread naps this often before it sleeps for good: programs that
/// send and wait in turns would wake it each time.
constexpr int naps_before_sleep = 16;
/// Complete requests are told in one step, before the one that lets the host progress.
constexpr unsigned most_found_by_step = 64;
/// A system that has refused a thread is not asked again before so many more requests.
constexpr unsigned starts_behind_refusal = 1000;

} // namespace

void MessageThread::rouse() noexcept
{
    const std::scoped_lock lock(mutex_);
    if (starts_to_pass_ > 0) {
        --starts_to_pass_;
        return;
    }
    asleep_.store(false, std::memory_order_relaxed);
    nap_ends_.store(Time(0), std::memory_order_relaxed);
    roused_.store(true, std::memory_order_relaxed);
    alarm_.open();
    alarm_.set(Pace::shortest);
    if (!thread_.joinable()) {
        stopping_.store(false, std::memory_order_relaxed);
        below_.start([](void* self) { static_cast<MessageThread*>(self)->start(); }, this);
    }
    if (!thread_.joinable()) {
        asleep_.store(true, std::memory_order_relaxed);
        starts_to_pass_ = starts_behind_refusal;
    }
}

/// libsidelight.so watches who starts here, and takes it for none of the program's.
void MessageThread::start() noexcept
{
    thread_ = host::node::start_own_thread(
        "message", [](void* self) noexcept { static_cast<MessageThread*>(self)->run(); }, this);
}

void MessageThread::stop() noexcept
{
    stopping_.store(true, std::memory_order_seq_cst);
    alarm_.set(Time(0));
    if (thread_.joinable()) {
        thread_.join();
    }
    asleep_.store(true, std::memory_order_seq_cst);
}

/// The timer is the parent's, too.
void MessageThread::forget() noexcept
{
    new (&thread_) std::thread;
    alarm_.drop();
}

void MessageThread::run() noexcept
{
    below_.leave_out();
    int naps = 0;
    Time used_before = processor_time();
    begin();
    Time pause = Pace::shortest;
    while (rest(pause)) {
        naps = has_work() ? 0 : naps + 1;
        const bool is_woken = has_stretches() && worth_.is();
        if (naps > (is_woken ? 0 : naps_before_sleep)) {
            sleep_for_good();
            begin();
            pause = Time(0); // who woke it has set the alarm for later
            naps = 0;
            continue;
        }
        const std::optional<Time> moving = naps == 0 ? look() : std::nullopt;
        const Time used = processor_time();
        pause = pace_.next(moving, now(), used - used_before); // with the wake
        used_before = used;
    }
    idle_.end();
}

/// Answers false when the thread is to end. Who starts a request may shorten a long nap, since the
/// program is about to leave MPI.
bool MessageThread::rest(Time pause) noexcept
{
    if (pause != Time(0)) {
        roused_.store(false, std::memory_order_relaxed);
        alarm_.set(pause);
        if (stopping_.load(std::memory_order_seq_cst)) {
            return false;
        }
        if (pause > Pace::soon_enough && alarm_.can_be_set()) {
            nap_ends_.store(now() + pause, std::memory_order_relaxed);
        }
        alarm_.sleep();
        nap_ends_.store(Time(0), std::memory_order_relaxed);
        if (roused_.load(std::memory_order_relaxed)) {
            begin();
        }
    }
    return !stopping_.load(std::memory_order_seq_cst);
}

/// It has been woken.
void MessageThread::begin() noexcept
{
    worth_.slept_again(std::exchange(moved_, Time(0)));
    pace_.begin(now());
}

/// Whoever starts a request counts it and then looks who sleeps, and sets the alarm; whoever sleeps
/// clears it, says so, and then looks for requests. So does, and looks, whoever wants steps again,
/// or stops the thread.
void MessageThread::sleep_for_good() noexcept
{
    do {
        alarm_.clear();
        asleep_.store(true, std::memory_order_seq_cst);
        if (has_work() || stopping_.load(std::memory_order_seq_cst)) {
            break;
        }
        alarm_.sleep();
    } while (!has_work() && !stopping_.load(std::memory_order_seq_cst));
    asleep_.store(false, std::memory_order_seq_cst);
    add_own(counts_.wakes);
}

bool MessageThread::may_step() const noexcept
{
    return rules::may_step({.live = requests_.live(),
                            .live_barring = requests_.live_barring(),
                            .calls_back = conditions_.calls_back.load(std::memory_order_relaxed),
                            .wanted = conditions_.wanted.load(std::memory_order_relaxed)});
}

/// What of it has moved something; none: the program is there, or has been.
std::optional<Time> MessageThread::look() noexcept
{
    add_own(counts_.looks);
    const std::uint64_t visits = presence_.visits();
    const bool came = std::exchange(visits_, visits) != visits;
    const bool has_threads = conditions_.program_has_threads.load(std::memory_order_relaxed);
    if (came && (has_threads || !stretches_.is_long(now()))) {
        return std::nullopt;
    }
    if (!may_step()) {
        return Time(0);
    }
    if (!presence_.try_begin_step()) {
        return std::nullopt;
    }
    // What is under way can change until the step has begun.
    const Time moving = may_step() ? step() : Time(0);
    presence_.end_step();
    return moving;
}

/// Nobody of the program is in MPI: every request under way is one that the host knows. To ask for
/// one that is not complete makes the host progress, once.
/// Answers what of it has moved something.
Time MessageThread::step() noexcept
{
    const Time before = processor_time();
    unsigned found = 0;
    if (may_ask_for_requests) {
        found = requests_.look(most_found_by_step, [this](Handle handle) {
            return is_over(*status_, request_of(handle));
        });
    } else {
        idle_.ask(status_);
    }
    const Time cost = processor_time() - before;
    const Time guessed = motion_.of(cost);
    const Time moving = found > 0 ? Pace::for_sure : guessed;
    const bool moved = moving != Time(0);
    moved_ += moved ? cost : Time(0);
    add_own(counts_.steps);
    add_own(counts_.moved, moved ? 1 : 0);
    add_own(counts_.found, found);
    add_own(counts_.busy_ns, static_cast<std::uint64_t>(cost.count()));
    return moving;
}

} // namespace sidelight::messages
