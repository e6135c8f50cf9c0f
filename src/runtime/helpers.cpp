// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/helpers.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/cpu.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "host/mpi/progress.hpp"
#include "runtime/runtime.hpp"
#include "runtime/window_table.hpp"

/// The functions that the host and the thread call know no context: they find the one runtime.
namespace sidelight::runtime {

namespace {

/// Whether the last sweep has left the fabric close to the next message. Relaxed: a hint.
std::atomic<bool> messages_are_close{false};

/// Tries, and never waits.
bool sweep_for_host() noexcept
{
    Runtime& runtime = *Runtime::existing();
    Engine& engine = runtime.engine();
    const bool completed = runtime.requests().complete_found();
    if (!engine.process().busy()) {
        return completed;
    }
    bool moved = false;
    {
        const HostLoopToken token(engine);
        if (!token) {
            return completed;
        }
        if (engine.notes_calls() && !host::mpi::is_in_poll()) [[unlikely]] {
            engine.recall().is_in_host();
        }
        engine.answer_call();
        moved = engine.process().progress();
        messages_are_close.store(runtime.waiting().messages_are_close(), std::memory_order_relaxed);
    }
    return run_active<HostLoopToken>(engine) || moved || completed;
}

/// A neighbour that waits for each answer sends its next message at once, and a turn of some hosts'
/// loops takes as long as that: so it is waited for here, for a microsecond or two, and for few in
/// a row, since the host waits meanwhile. Not where looking is a system call.
void await_next_message() noexcept
{
    constexpr int most_messages = 16;
    constexpr int most_looks = 20;
    int messages = 0;
    for (int looks = 0; messages < most_messages && looks < most_looks &&
                        messages_are_close.load(std::memory_order_relaxed);
         ++looks) {
        relax_cpu();
        if (sweep_for_host()) {
            ++messages;
            looks = 0;
        }
    }
}

/// Called from the host's loop, millions of times a second. A look at a network may be a system
/// call, so while no window waits for anything only one time in so many looks; but after a message
/// the next one is likely soon: some host's loop takes as long as a message. Long after the last
/// window is gone, and what was left of it has been sent, farewells of peers are all that may come.
bool sweep_if_worth_while() noexcept
{
    constexpr unsigned times_per_look = 8;
    constexpr unsigned times_per_late_look = 1024;
    constexpr unsigned times_until_late = 1U << 16U;
    constexpr unsigned looks_after_message = 128;
    thread_local unsigned times = 0;
    thread_local unsigned expecting = 0;
    thread_local unsigned without_window = 0;
    without_window = window_table::any() ? 0 : std::min(without_window + 1, times_until_late);
    Runtime& runtime = *Runtime::existing();
    const bool listens_only = !runtime.engine().process().waits();
    if (listens_only && expecting == 0 &&
        ++times % (without_window < times_until_late ? times_per_look : times_per_late_look) != 0) {
        return runtime.requests().complete_found(); // the program may ask just once
    }
    const bool moved = sweep_for_host();
    if (moved) {
        await_next_message();
    }
    expecting = moved ? looks_after_message : expecting - (expecting != 0 ? 1 : 0);
    return moved;
}

bool sweep_from_host(bool host_moved) noexcept
{
    thread_local host::node::LoopPause loop;
    loop.enter();
    const bool moved = sweep_if_worth_while();
    Runtime::existing()->waiting().pause_in_loop(loop, sweep_for_host, moved || host_moved);
    return moved;
}

bool is_thread(Progress mode) noexcept
{
    return mode == Progress::thread || mode == Progress::smart;
}

/// Called from the host's wait for a request of ours, after each sweep.
void pause_in_host(bool moved) noexcept
{
    Runtime::existing()->waiting().pause(sweep_for_host, moved);
}

} // namespace

void Helpers::watch_requests() noexcept
{
    host::mpi::set_request_sweep(sweep_for_host, pause_in_host);
}

void Helpers::start(Progress wish) noexcept
{
    const std::scoped_lock one_at_a_time(starting_);
    start_what_is_not(wish);
}

void Helpers::restart() noexcept
{
    const std::scoped_lock one_at_a_time(starting_);
    end_thread();
    start_what_is_not(Progress::automatic);
}

void Helpers::start_what_is_not(Progress wish) noexcept
{
    hooked_ = may_hook_ && host::mpi::start_hook(sweep_from_host);
    if (is_thread(wish)) {
        wish_ = wish;
    }
    apply(wanted());
}

Progress Helpers::wanted() const noexcept
{
    return is_thread(wish_) && !is_thread(mode()) ? wish_ : mode();
}

void Helpers::begin_finalize() noexcept
{
    if (!host::mpi::hook_ends_first()) {
        return;
    }
    const std::scoped_lock one_at_a_time(starting_);
    stop_hook();
    hooked_ = may_hook_ = false;
    const bool has_windows = [this] {
        const EngineToken token(engine_);
        return !engine_.process().windows().empty();
    }();
    if (has_windows) {
        apply(wanted());
    }
}

void Helpers::end_finalize(bool goes_on) noexcept
{
    may_hook_ = true;
    if (goes_on) {
        start();
    }
}

void Helpers::apply_mode() noexcept
{
    const std::scoped_lock one_at_a_time(starting_);
    if (mode() != Progress::automatic) {
        forget_wish();
    }
    if (!is_thread(wanted())) {
        end_thread();
    }
    apply(wanted());
}

/// The host may have come by since the last window was made.
void Helpers::begin_for_pending() noexcept
{
    const std::scoped_lock one_at_a_time(starting_);
    hooked_ = may_hook_ && host::mpi::start_hook(sweep_from_host);
    pending_ = true;
    if (mode() == Progress::automatic) {
        apply(Progress::automatic);
    }
}

/// A thread that a window has asked for stays, unless the mode wants the other kind.
void Helpers::apply(Progress mode) noexcept
{
    const bool any = thread_.runs() || interrupt_thread_.runs();
    if ((mode == Progress::smart && thread_.runs()) ||
        (mode == Progress::thread && interrupt_thread_.runs())) {
        end_thread();
    }
    if (mode == Progress::smart) {
        begin_interrupts();
    } else if (mode == Progress::thread || (!any && wants_thread(mode))) {
        engine_.expect_helper();
        thread_.start(waiting_.waiter(), {sweep_on_thread, program_came, has_more});
    }
    tell_finisher();
}

/// Closing calls return early only where something finishes what they leave, and nothing is offered
/// there.
void Helpers::tell_finisher() noexcept
{
    rma::Finisher finisher = rma::Finisher::nobody;
    if (thread_.runs()) {
        finisher = rma::Finisher::thread;
    } else if (interrupt_thread_.runs()) {
        finisher = rma::Finisher::called;
    }
    const EngineToken token(engine_);
    engine_.process().set_finisher(finisher, Engine::program_has_threads());
}

/// By itself only where messages, or what a nonblocking call has left, would wait for the program's
/// next call of ours.
bool Helpers::wants_thread(Progress mode) noexcept
{
    return mode == Progress::automatic && !hooked_ && (pending_ || engine_.process().messages());
}

void Helpers::begin_interrupts() noexcept
{
    if (interrupt_thread_.runs()) {
        return;
    }
    engine_.expect_helper();
    engine_.set_interrupts(true);
    if (interrupt_thread_.start(waiting_.waiter(), engine_.recall(),
                                {sweep_on_thread, program_came, has_more})) {
        interrupted_.store(true, std::memory_order_relaxed);
    } else {
        engine_.set_interrupts(false);
    }
}

void Helpers::stop_thread() noexcept
{
    const std::scoped_lock one_at_a_time(starting_);
    end_thread();
}

void Helpers::end_thread() noexcept
{
    thread_.stop();
    if (interrupt_thread_.runs()) {
        engine_.set_interrupts(false);
        interrupt_thread_.stop();
        std::array<char, 256> line{};
        print_counts(line);
        log(LogLevel::info, "%s", line.data());
    }
    tell_finisher();
    waiting_.waiter().expect_short_sleeps();
}

void Helpers::print_counts(std::span<char> line) const noexcept
{
    const host::node::InterruptCounts& counts = interrupt_thread_.counts();
    const auto of = [](const std::atomic<std::uint64_t>& count) {
        return static_cast<unsigned long long>(count.load(std::memory_order_relaxed));
    };
    const unsigned long long calls = of(counts.calls);
    std::snprintf(
        line.data(), line.size(),
        "interrupt thread: called %llu times by events and %llu by messages, %llu of them for "
        "nothing; ran %llu ns after the call, %llu at most; %llu naps; %llu us in the engine",
        calls, of(counts.messages), of(counts.futile), calls != 0 ? of(counts.delay_ns) / calls : 0,
        of(counts.longest_ns), of(counts.naps), of(counts.busy_ns) / 1000);
}

/// Once more when handlers have run: an epoch may end with the last of them.
bool Helpers::sweep_on_thread() noexcept
{
    constexpr int most_rounds = 16; // then it may be told to end
    Engine::become_helper();
    Engine& engine = Runtime::existing()->engine();
    bool moved = false;
    bool ran = true;
    for (int round = 0; ran && round < most_rounds; ++round) {
        {
            const HelperToken token(engine);
            if (token) {
                engine.answer_call();
                moved = (engine.process().busy() && engine.process().progress()) || moved;
            }
        }
        ran = run_active<HelperToken>(engine);
        moved = moved || ran;
    }
    return moved;
}

bool Helpers::has_more() noexcept { return Runtime::existing()->engine().expect_handlers(); }

bool Helpers::program_came() noexcept
{
    EngineLock& lock = Runtime::existing()->engine().lock();
    const bool came = lock.is_visited();
    lock.watch();
    return came;
}

void Helpers::stop_hook() noexcept { host::mpi::stop_hook(); }

} // namespace sidelight::runtime
