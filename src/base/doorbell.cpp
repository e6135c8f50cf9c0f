// SPDX-License-Identifier: BSD-3-Clause
#include "base/doorbell.hpp"

#include <bit>
#include <climits>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bell_pipe.hpp"

namespace sidelight {
namespace {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(sizeof(Doorbell) % 64 == 0, "cache lines of its own");

// Not the private kind: sleeper and waker are different processes.
void futex_wait(std::uint32_t* word, std::uint32_t expected, const timespec& limit) noexcept
{
    syscall(SYS_futex, word, FUTEX_WAIT, expected, &limit, nullptr, 0);
}

void futex_wake_all(std::uint32_t* word) noexcept
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

} // namespace

std::uint32_t* Doorbell::futex() noexcept
{
    constexpr std::size_t high_half = std::endian::native == std::endian::little ? 1 : 0;
    return reinterpret_cast<std::uint32_t*>(&state_) + high_half;
}

void Doorbell::sleep(Visit visit, std::chrono::nanoseconds limit) noexcept
{
    constexpr std::chrono::nanoseconds::rep second = 1'000'000'000;
    const timespec relative{.tv_sec = limit.count() / second, .tv_nsec = limit.count() % second};
    futex_wait(futex(), visit.rings, relative);
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
            futex_wake_all(futex());
            if (at_pipe_.load(std::memory_order_acquire)) {
                ring_pipe(pipe_);
            }
            return;
        }
    }
}

void Doorbell::ring_pipe_of_thread() noexcept { ring_pipe(pipe_); }

} // namespace sidelight
