// SPDX-License-Identifier: BSD-3-Clause
#include "base/thread_number.hpp"

#include <atomic>
#include <bit>
#include <cstdint>

namespace sidelight {

namespace {

static_assert(thread_numbers == 64);

/// A bit for each number that a thread has. Taken by an acquire, which pairs with the release of
/// the thread that had it before.
std::atomic<std::uint64_t> taken{0};

std::size_t take() noexcept
{
    std::uint64_t seen = taken.load(std::memory_order_relaxed);
    while (~seen != 0) {
        const std::uint64_t lowest = ~seen & (seen + 1);
        if (taken.compare_exchange_weak(seen, seen | lowest, std::memory_order_acquire,
                                        std::memory_order_relaxed)) {
            return static_cast<std::size_t>(std::countr_zero(lowest));
        }
    }
    return thread_numbers;
}

/// What a thread has, until it ends. It has no destructor, so that it can be asked at any time.
constexpr std::size_t not_asked = thread_numbers + 1;
thread_local std::size_t own = not_asked;

struct GivesBack {
    ~GivesBack()
    {
        if (own < thread_numbers) {
            taken.fetch_and(~(std::uint64_t{1} << own), std::memory_order_release);
        }
        own = thread_numbers;
    }
};

} // namespace

std::size_t thread_number() noexcept
{
    if (own == not_asked) [[unlikely]] {
        own = take();
        thread_local const GivesBack at_the_end;
    }
    return own;
}

} // namespace sidelight
