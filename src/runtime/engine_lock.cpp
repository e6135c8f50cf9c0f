// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/engine_lock.hpp"

#include <chrono>

#include "base/futex.hpp"

namespace sidelight::runtime {

/// Whether a helper has to be let in. One that only watches is told.
bool EngineLock::is_entered() noexcept
{
    Claim seen = Claim::watching;
    return !claim_.compare_exchange_strong(seen, Claim::none, std::memory_order_acquire) &&
           seen == Claim::entering;
}

bool EngineLock::try_acquire() noexcept
{
    if (shared()) {
        return try_lock();
    }
    if (inside_.load(std::memory_order_relaxed) != 0) {
        return false;
    }
    step_in();
    if (is_claimed() && (is_entered() || shared())) {
        step_out();
        return false;
    }
    return true;
}

/// Wakes a helper that may sleep until the program's side is out.
void EngineLock::step_out() noexcept
{
    inside_.store(0, std::memory_order_release); // pairs with the acquire in acquire_as_helper
    futex_wake_one(futex_word(inside_), FutexScope::process);
}

/// After the program's side has left.
void EngineLock::let_in() noexcept
{
    if (is_entered()) {
        step_out();
    }
}

/// A helper that wants in goes first: the program's side would come again and again. But for one
/// that sleeps here, and takes longer to wake up than a helper to come back.
void EngineLock::give_way() noexcept
{
    bool has_slept = false;
    while (is_entered()) {
        step_out();
        gives_way_.store(1, std::memory_order_relaxed);
        has_slept = true;
        futex_wait(futex_word(claim_), static_cast<std::uint32_t>(Claim::entering),
                   FutexScope::process);
        step_in();
    }
    if (has_slept) {
        gives_way_.store(0, std::memory_order_relaxed);
        futex_wake_one(futex_word(gives_way_), FutexScope::process);
    }
    if (shared()) { // since it stepped in
        step_out();
        lock();
    }
}

/// Whoever gave way is in, or takes long: it may not have a core.
void EngineLock::let_program_in() noexcept
{
    constexpr auto longest = std::chrono::milliseconds(1);
    if (gives_way_.load(std::memory_order_relaxed) != 0) [[unlikely]] {
        futex_wait_for(futex_word(gives_way_), 1, FutexScope::process, longest);
    }
}

/// The side of the exchange that has the barrier: whoever stepped in before has said so by then,
/// and whoever comes after finds the claim.
bool EngineLock::acquire_as_helper() noexcept
{
    lock();
    if (shared()) {
        return true;
    }
    let_program_in();
    claim_.store(Claim::entering, std::memory_order_seq_cst);
    if (!barrier_()) {
        withdraw(Claim::none);
        unlock();
        return false;
    }
    while (inside_.load(std::memory_order_acquire) != 0) {
        futex_wait(futex_word(inside_), 1, FutexScope::process);
    }
    return true;
}

void EngineLock::release_as_helper() noexcept
{
    if (!shared()) {
        withdraw(Claim::watching);
    }
    unlock();
}

void EngineLock::withdraw(Claim to) noexcept
{
    claim_.store(to, std::memory_order_release); // pairs with acquires of the other side
    futex_wake_one(futex_word(claim_), FutexScope::process);
}

void EngineLock::watch() noexcept
{
    Claim seen = Claim::none;
    claim_.compare_exchange_strong(seen, Claim::watching, std::memory_order_relaxed);
}

void EngineLock::lock_slowly() noexcept
{
    while (state_.exchange(contended, std::memory_order_acquire) != free) {
        futex_wait(futex_word(state_), contended, FutexScope::process);
    }
}

void EngineLock::wake_one() noexcept { futex_wake_one(futex_word(state_), FutexScope::process); }

} // namespace sidelight::runtime
