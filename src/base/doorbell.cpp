// SPDX-License-Identifier: BSD-3-Clause
#include "base/doorbell.hpp"

#include "base/bell_pipe.hpp"
#include "base/futex.hpp"

namespace sidelight {
namespace {

static_assert(sizeof(Doorbell) % 64 == 0, "cache lines of its own");

} // namespace

void Doorbell::sleep(Visit visit, std::chrono::nanoseconds limit) noexcept
{
    futex_wait_for(futex_high_half(state_), visit.rings, FutexScope::machine, limit);
}

bool Doorbell::leave(Visit visit) noexcept
{
    // Acquire pairs with the release in `wake`: what was written before the ring is seen.
    std::uint64_t now = state_.load(std::memory_order_acquire);
    while (rings(now) == visit.rings) {
        if (state_.compare_exchange_weak(now, now - one_sleeper, std::memory_order_acquire)) {
            return false;
        }
    }
    return true;
}

void Doorbell::wake(std::uint64_t seen) noexcept
{
    while (sleepers(seen) != 0) {
        const std::uint64_t rung = seen - sleepers(seen) + one_ring;
        if (state_.compare_exchange_weak(seen, rung, std::memory_order_acq_rel)) {
            futex_wake_all(futex_high_half(state_), FutexScope::machine);
            if (at_pipe_.load(std::memory_order_acquire)) {
                ring_pipe(pipe_);
            }
            return;
        }
    }
}

void Doorbell::ring_pipe_of_thread() noexcept { ring_pipe(pipe_); }

} // namespace sidelight
