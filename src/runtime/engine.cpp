// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/engine.hpp"

#include "base/cpu.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"

namespace sidelight::runtime {

Engine::Engine()
    : fabric_({.transports = settings().network,
               .always_access = settings().route == Route::native,
               .library = settings().ucx})
{
    process_.set_allows_rows(allow_heavy_barriers());
    process_.set_active({.internal_bytes = static_cast<std::size_t>(settings().active_buffer),
                         .unit = static_cast<std::uint64_t>(settings().active_unit)});
}

void Engine::expect_program_threads() noexcept
{
    program_has_threads_ = true;
    lock_.share();
    tell_process();
}

void Engine::expect_more_program_threads() noexcept
{
    const auto tell = [this] {
        program_has_threads_ = true;
        tell_process();
    };
    if (!lock_.shared() && allow_own_heavy_barriers() && lock_.share_beside(tell)) {
        return;
    }
    expect_program_threads();
}

void Engine::expect_helper() noexcept
{
    if (!lock_.shared() && !allow_own_heavy_barriers()) {
        log(LogLevel::info, "no membarrier: with a progress thread each call takes a lock");
        lock_.share();
    }
    if (!threaded_) {
        tell_process();
    }
}

void Engine::set_interrupts(bool wanted) noexcept
{
    lock_.acquire();
    interrupts_.store(wanted, std::memory_order_seq_cst);
    notes_calls_.store(wanted && !program_has_threads_ && !crowded_.load(std::memory_order_relaxed),
                       std::memory_order_relaxed);
    if (wanted) {
        interest().enter();
        say_what_is_wanted();
    } else {
        interest().forget();
    }
    lock_.release();
}

/// What is asked for from now on may have happened just before, and what others have called for
/// meanwhile is looked at here: so it looks again until neither is so, or, among neighbours that
/// send on and on, for some times. What is left then, and handlers of what has come, are for
/// whoever does not hold the engine: a helper comes again, a call might be over.
void Engine::say_what_is_wanted() noexcept
{
    constexpr int most_looks = 16;
    int looks = 0;
    while (!interest().leave(process_.wanted())) {
        if (++looks > most_looks) {
            interest().leave_owing();
            break;
        }
        process_.progress();
        process_.push();
    }
    if (!is_helper_ && looks > 0 && (looks > most_looks || process_.has_active())) [[unlikely]] {
        fabric_.bell().summon();
    }
}

bool Engine::expect_handlers() noexcept
{
    handlers_are_told_.store(true, std::memory_order_seq_cst);
    full_barrier();
    if (!process_.has_active()) {
        return false;
    }
    handlers_are_told_.store(false, std::memory_order_relaxed);
    return true;
}

void Engine::tell_of_handlers() noexcept
{
    full_barrier();
    if (handlers_are_told_.load(std::memory_order_relaxed) && handlers_are_told_.exchange(false)) {
        fabric_.bell().ring();
        fabric_.bell().summon();
    }
}

/// The thread may have been ended meanwhile.
void Engine::end_attendance() noexcept
{
    attends_ = false;
    lock_.acquire();
    if (interrupts_.load(std::memory_order_relaxed)) {
        say_what_is_wanted();
    } else {
        static_cast<void>(interest().leave_as_it_is());
    }
    lock_.release();
}

/// Windows that exist hear of it, so nobody may be using one.
void Engine::tell_process() noexcept
{
    threaded_ = true;
    process_.expect_threads(true, program_has_threads_);
}

} // namespace sidelight::runtime
