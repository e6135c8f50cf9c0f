// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/wait.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <sched.h>

#include "base/clock.hpp"
#include "base/cpu.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/trace.hpp"
#include "host/mpi/progress.hpp"
#include "host/node/cores.hpp"
#include "host/node/own_thread.hpp"

namespace sidelight::host::node {

namespace {

using namespace std::chrono_literals;

/// Polls before sleeping: some 20 to 50 us with a core of one's own, long enough for a neighbour
/// that is on its way; hardly any when the one waited for may need this very core. Polls of a
/// network are longer, and those of several threads wait for each other.
constexpr int polls_alone = 1000;
constexpr int polls_crowded = 4;
constexpr Time longest_spinning = 50us;
constexpr int polls_per_look_at_clock = 16;
/// With a core for each rank, some hundred us of yields give it to whoever wants it, and are
/// cheaper than a sleep, which takes tens of us to end.
constexpr int yields_alone = 500;
constexpr int yields_per_host_poll = 16;
/// Where cores are short a yield may last for as long as others compute.
constexpr Time longest_yielding = 500us;
/// The host's progress costs more than ours: once in so many polls.
constexpr int polls_per_host_poll = 64;

/// Whoever completes a wait rings the bell. The limit is for what rings none: the host's progress,
/// which is asked for less often where it takes the core from others.
constexpr Time first_nap_alone = 50us;
constexpr Time first_nap_crowded = 500us;
constexpr Time longest_nap = 1ms;

/// A wait in steps: so many between two looks at the host, whatever comes of them, and how long a
/// thread may do other things between two polls that are still of one wait.
constexpr unsigned steps_per_host_poll = 32;
constexpr unsigned crowded_steps_per_host_poll = 8;
constexpr Time longest_step = 5us;

/// A thread that polls does nothing else: it looks again after so long at most. One that comes back
/// later, but not much later, was without its core.
constexpr Time longest_look = 50us;
constexpr Time longest_absence = 20ms;
/// A yield that finds somebody takes longer. Whoever yields in vain although others have had its
/// core is in a scheduling group of its own.
constexpr Time shortest_switch = 1us;
/// Between two naps, which take about as long.
constexpr Time shortest_polling = 100us;

/// The fruitless polls of one wait in steps.
struct Steps {
    unsigned count = 0;
    int yields = 0;
    int most_yields = 0;
    Time nap = first_nap_alone;
    Time last{};
};

/// Of a thread that polls by calls that are over at once. It gives to those that compute half of
/// its time at most, which they would have anyway.
struct Polling {
    Time looked{};
    Time taken{}; ///< when others had had its core last
    Time napped{};
    Time stays_until{}; ///< of its processor time: as long as it was away before
};

thread_local Steps steps;
thread_local Polling polling;
thread_local Time turn_began{}; ///< of those that it asks for in turn
thread_local unsigned steps_since_host_poll = 0;

int polls_before_sleep(bool crowded) noexcept
{
    const int set = settings().spin;
    return set >= 0 ? set : crowded ? polls_crowded : polls_alone;
}

void note(trace::Recorder* recorder, const trace::Record& record) noexcept
{
    if (recorder != nullptr) [[unlikely]] {
        recorder->note(record);
    }
}

} // namespace

Waiter::Waiter(Doorbell& bell) noexcept : bell_(bell) { bell_.let_linger(true); }

void Waiter::learn_neighbours(int ranks) noexcept
{
    const int cores = available_cores();
    if (ranks <= cores) {
        return;
    }
    if (!crowded_.exchange(true, std::memory_order_relaxed)) {
        log(LogLevel::info, "ranks outnumber cores, %d to %d: who waits gives its core away", ranks,
            cores);
    }
    bell_.let_linger(false);
}

void Waiter::expect_long_sleeps() noexcept
{
    long_sleeps_.store(true, std::memory_order_relaxed);
    bell_.let_linger(false);
}

void Waiter::expect_short_sleeps() noexcept
{
    long_sleeps_.store(false, std::memory_order_relaxed);
    bell_.let_linger(!crowded());
}

bool Waiter::linger(bool (*poll)(void*) noexcept, void* context) noexcept
{
    const auto end = now() + Doorbell::linger_time;
    for (bool last = false; !last;) {
        last = now() >= end; // one look after that, however late
        if (poll(context)) {
            return true;
        }
        relax_cpu();
    }
    return false;
}

/// The interrupt thread need not hear of what a poll finds. Answers whether it has to be opened.
bool Waiter::close_gate() noexcept
{
    if (!dozes_.load(std::memory_order_acquire)) {
        return false;
    }
    if (pollers_.fetch_add(1, std::memory_order_seq_cst) == 0) {
        gate_.close();
    }
    return true;
}

/// The last one opens it, after all that have closed it.
void Waiter::open_gate() noexcept
{
    if (pollers_.fetch_sub(1, std::memory_order_seq_cst) == 1) {
        gate_.open();
    }
}

bool Waiter::spin(bool (*poll)(void*) noexcept, void* context) noexcept
{
    bool closed = false;
    bool found = spin(poll, context, closed);
    if (!found) {
        closed = closed || close_gate();
        found = yield(poll, context);
    }
    if (closed) {
        open_gate();
    }
    return found;
}

bool Waiter::spin(bool (*poll)(void*) noexcept, void* context, bool& closed) noexcept
{
    const int polls = polls_before_sleep(crowded());
    const bool is_limited = settings().spin < 0;
    Time begin{}; // of those that may be too long: short waits need no clock
    for (int count = 1; count <= polls; ++count) {
        if (poll(context)) {
            return true;
        }
        if (count % polls_per_host_poll == 0) {
            mpi::poll_host();
        } else {
            relax_cpu();
        }
        if (count == polls_per_look_at_clock) {
            closed = close_gate();
            begin = now();
        } else if (is_limited && count % polls_per_look_at_clock == 0 &&
                   now() - begin >= longest_spinning) {
            break;
        }
    }
    return false;
}

/// With the first long one a wait has yielded enough. The host progresses before it sleeps.
bool Waiter::yield(bool (*poll)(void*) noexcept, void* context) noexcept
{
    const bool is_crowded = crowded();
    const Time begin = now();
    const bool computed_on = settings().sleep && yield_budget_.is_computed_on(begin);
    const int yields = computed_on ? 0 : is_crowded ? yield_budget_.next() : yields_alone;
    for (int count = 1; count <= yields; ++count) {
        const Time before = now();
        sched_yield();
        const Time after = now();
        const bool polled = poll(context);
        // Ranks that take turns may have worked in theirs, and what came of it is here.
        const bool to_computing =
            !(is_crowded && polled) && yield_budget_.lasted(before, after) && settings().sleep;
        if (polled) {
            yield_budget_.found_after(count);
            return true;
        }
        if (to_computing || (is_crowded && after - begin >= longest_yielding)) {
            break; // those who have the core are not waiting
        }
        if (count % yields_per_host_poll == 0) {
            mpi::poll_host();
        }
    }
    yield_budget_.found_nobody(yields);
    mpi::poll_host();
    return poll(context);
}

/// Without a pipe the doorbell is all that is heard, and the limit brings the next look. A network
/// that is opened again has the pipe of the one before: peers keep each that they have rung open.
void Waiter::listen_to(const Network& network) noexcept
{
    if (!pipe_) {
        pipe_ = BellPipe::create();
    }
    if (!pipe_) {
        log(LogLevel::warn, "sleepers do not hear of messages: no pipe");
        grow_deaf();
        return;
    }
    network_ = network;
    gate_.forget();
    bell_.lay_pipe(pipe_.address());
    listener_taken_.store(false, std::memory_order_release);
    listens_.store(true, std::memory_order_release);
    summon(); // the interrupt thread listens from now on
    rouse();  // or the progress thread
}

void Waiter::stop_listening() noexcept
{
    if (listens_.exchange(false)) {
        while (listener_taken_.exchange(true, std::memory_order_acquire)) {
            bell_.ring();
            bell_.summon();
            sched_yield();
        }
    }
    deaf_.store(false, std::memory_order_relaxed);
}

void Waiter::grow_deaf() noexcept
{
    deaf_.store(true, std::memory_order_relaxed);
    summon(); // the interrupt thread looks by itself from now on
    rouse();  // and so does the progress thread
}

/// By who listens. Answers whether to sleep, for `limit` at most. A network that refuses is
/// listened to no more: who tried again would be refused at once, again and again.
bool Waiter::arm(Time& limit) noexcept
{
    const Arming arming = network_.arm(network_.context);
    if (arming == Arming::refused) {
        grow_deaf();
    } else if (arming == Arming::unarmed) {
        limit = std::min<Time>(limit, longest_deaf_sleep);
    }
    return arming == Arming::armed || arming == Arming::unarmed;
}

void Waiter::sleep(Doorbell& bell, Doorbell::Visit visit, Time limit, bool listening) noexcept
{
    if (!listening) {
        bell.sleep(visit, limit);
    } else if (arm(limit)) {
        pipe_.sleep(network_.descriptor, limit);
    }
}

bool Waiter::take_listener() noexcept
{
    return listens_.load(std::memory_order_acquire) && !is_deaf() &&
           !listener_taken_.load(std::memory_order_relaxed) &&
           !listener_taken_.exchange(true, std::memory_order_acquire);
}

Roused Waiter::doze_for_call(bool (*poll)(void*) noexcept, void* context, Time limit) noexcept
{
    Interest& own = interest();
    unsigned summons = summons_.load(std::memory_order_seq_cst);
    bool listening = take_listener();
    if (!listening) {
        summons = summons_.load(std::memory_order_seq_cst);
        listener_wanted_.store(true, std::memory_order_seq_cst);
        full_barrier();
        listening = take_listener();
    }
    if (is_deaf()) { // a summons from now on ends the sleep, one of before this has seen
        limit = std::min<Time>(limit, longest_busy_sleep);
    }
    const std::uint64_t visit = own.begin_visit(listening);
    Time end{};
    bool slept = false;
    const bool is_summoned = summons_.load(std::memory_order_seq_cst) != summons;
    if (interest_word::may_sleep(visit) && !is_summoned && !poll(context)) {
        if (!listening) {
            own.sleep(visit, limit);
            slept = true;
        } else if (arm(limit) &&
                   !own.is_called()) { // to arm is to have been inside: a look may be owed
            if (!gate_) {
                gate_.watch(network_.descriptor);
            }
            dozes_.store(true, std::memory_order_release);
            end = now() + limit;
            pipe_.sleep(gate_.descriptor(), limit);
            dozes_.store(false, std::memory_order_relaxed);
            slept = true;
        }
    }
    const bool called = own.end_visit(visit);
    if (listening) {
        listener_taken_.store(false, std::memory_order_release);
    }
    if (!slept) {
        return Roused::not_asleep;
    }
    if (summons_.load(std::memory_order_seq_cst) != summons) {
        return Roused::by_other;
    }
    if (called) {
        return Roused::by_call;
    }
    return listening && now() < end ? Roused::by_message : Roused::by_other;
}

void Waiter::tell_long_sleeper() noexcept
{
    if (listener_wanted_.exchange(false, std::memory_order_seq_cst)) {
        summon();
        rouse();
    }
}

/// Armed after the poll: what arrives in between keeps the network from being armed. A long sleep
/// without the network ends when another thread listens no more, and does not begin then. A short
/// one by itself leaves the network to who sleeps for long, who would be woken behind each.
Waiter::Nap Waiter::nap(Doorbell& bell, bool (*poll)(void*) noexcept, void* context, Time limit,
                        bool waits) noexcept
{
    const bool is_long = limit >= longest_nap; // those of threads of ours; others are shorter
    const bool may_listen = waits || is_long || !long_sleeps_.load(std::memory_order_relaxed);
    const bool listening = &bell == &bell_ && may_listen && take_listener();
    if (listening) {
        bell_.use_pipe(true);
    }
    const bool wants_listener = !listening && &bell == &bell_ && is_long &&
                                listens_.load(std::memory_order_acquire) && !is_deaf();
    if (wants_listener) {
        listener_wanted_.store(true, std::memory_order_seq_cst);
        full_barrier();
    }
    const Doorbell::Visit visit = bell.enter();
    const bool polled = bell.lingering() ? linger(poll, context) : poll(context);
    trace::Recorder* trace = trace::of_process.load(std::memory_order_relaxed);
    if (!polled && wants_listener && !listener_taken_.load(std::memory_order_seq_cst)) {
        static_cast<void>(bell.leave(visit));
        return {.polled = false, .rung = true, .listened = false};
    }
    if (!polled) {
        note(trace, {.event = trace::Event::slept});
        sleep(bell, visit, limit, listening);
    }
    const bool rung = bell.leave(visit);
    if (!polled) {
        note(trace, {.event = trace::Event::woken, .value = rung ? 1U : 0U});
    }
    if (listening) {
        bell_.use_pipe(false);
        listener_taken_.store(false, std::memory_order_seq_cst);
        full_barrier();
        if (!waits) {
            tell_long_sleeper();
        }
    }
    return {.polled = polled, .rung = rung, .listened = listening};
}

/// Threads that own their cores poll on, as the host does when it waits.
void Waiter::pause(bool moved, bool (*poll)(void*) noexcept, void* context) noexcept
{
    const bool is_crowded = crowded() && settings().sleep;
    if (++steps_since_host_poll >=
        (is_crowded ? crowded_steps_per_host_poll : steps_per_host_poll)) {
        steps_since_host_poll = 0;
        mpi::poll_host();
    }
    if (moved || now() - steps.last > longest_step) {
        end_pauses();
    }
    if (moved) {
        return;
    }
    ++steps.count;
    if (!is_crowded) {
        if (steps.count % steps_per_host_poll == 0) {
            sched_yield();
        }
    } else if (steps.count > static_cast<unsigned>(polls_before_sleep(true))) {
        pause_crowded(poll, context);
    }
    steps.last = now();
}

void Waiter::give_way() noexcept
{
    if (!crowded()) {
        return;
    }
    const Time begin = now();
    const Time since_look = begin - std::exchange(polling.looked, begin);
    if (since_look > longest_look) {
        // The thread has done other things, unless others have had its core meanwhile.
        if (since_look >= YieldBudget::slice && since_look < longest_absence) {
            polling.taken = begin;
        }
        return;
    }
    if (polling.stays_until != Time{} && processor_time() < polling.stays_until) {
        return;
    }
    sched_yield();
    polling.looked = now();
    const Time away = polling.looked - begin;
    polling.stays_until = {};
    if (away >= YieldBudget::slice) {
        polling.stays_until = processor_time() + away;
    } else if (away < shortest_switch && begin - polling.taken < Recurring::memory &&
               begin - polling.napped >= shortest_polling && settings().sleep) {
        nap(
            bell_, [](void*) noexcept { return false; }, nullptr, first_nap_alone);
        polling.napped = polling.looked = now();
    }
}

/// A turn ends where a thing comes again: each is passed over once in it. What is passed over is no
/// other thing that the thread does.
bool Waiter::begins_turn(std::atomic<Time>& asked) noexcept
{
    const Time at = now();
    const bool comes_again = asked.exchange(at, std::memory_order_relaxed) >= turn_began;
    const bool stayed = at - steps.last <= longest_step;
    if (stayed) {
        steps.last = at;
    }
    if (comes_again || !stayed) {
        turn_began = at;
        return true;
    }
    return false;
}

void Waiter::end_pauses() noexcept
{
    if (steps.yields > 0 && steps.yields < steps.most_yields) {
        yield_budget_.found_after(steps.yields);
    }
    steps = {};
}

void Waiter::pause_crowded(bool (*poll)(void*) noexcept, void* context) noexcept
{
    if (steps.most_yields == 0) {
        steps.most_yields = yield_budget_.next();
    }
    if (steps.yields < steps.most_yields) {
        sched_yield();
        if (++steps.yields == steps.most_yields) {
            yield_budget_.found_nobody(steps.yields);
        }
        return;
    }
    if (steps.nap > first_nap_alone) {
        mpi::poll_host();
    }
    if (nap(bell_, poll, context, steps.nap).polled) {
        end_pauses();
    } else {
        steps.nap = std::min(2 * steps.nap, first_nap_crowded);
    }
}

void Waiter::wait(bool (*poll)(void*) noexcept, void* context, Doorbell* meeting) noexcept
{
    if (poll(context) || spin(poll, context)) {
        return;
    }
    bool listened = false;
    wait_in_naps(poll, context, meeting != nullptr ? *meeting : bell_, listened);
    if (listened) {
        tell_long_sleeper();
    }
}

/// Between two naps of one wait the thread looks by itself: who sleeps for long need not.
void Waiter::wait_in_naps(bool (*poll)(void*) noexcept, void* context, Doorbell& bell,
                          bool& listened) noexcept
{
    const Time first_nap = crowded() ? first_nap_crowded : first_nap_alone;
    for (Time limit = first_nap;; limit = std::min(2 * limit, longest_nap)) {
        if (limit > first_nap) {
            mpi::poll_host();
        }
        if (!settings().sleep) {
            sched_yield();
            if (poll(context)) {
                return;
            }
            continue;
        }
        const Nap taken = nap(bell, poll, context, limit, true);
        listened = listened || taken.listened;
        if (taken.polled || poll(context)) {
            return;
        }
        if (taken.rung) {
            limit = first_nap;
        }
    }
}

} // namespace sidelight::host::node
