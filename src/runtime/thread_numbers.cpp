// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/thread_numbers.hpp"

#include <atomic>
#include <bit>
#include <cstdint>

#include "base/log.hpp"

namespace sidelight::runtime {

namespace {

/// A bit for each number that somebody has; the first is no_thread's.
std::atomic<std::uint64_t> taken{1};
static_assert(rma::most_thread_numbers < 64);

void tell_that_all_are_taken() noexcept
{
    static std::atomic<bool> told{false};
    if (!told.exchange(true, std::memory_order_relaxed)) {
        log(LogLevel::info,
            "more than %d threads use windows with thread scope: the flushes of the others wait "
            "for the operations of all",
            static_cast<int>(rma::most_thread_numbers));
    }
}

rma::ThreadNumber take() noexcept
{
    std::uint64_t before = taken.load(std::memory_order_relaxed);
    for (;;) {
        const int number = std::countr_one(before);
        if (number > rma::most_thread_numbers) {
            tell_that_all_are_taken();
            return rma::no_thread;
        }
        // Acquire: what the number's last owner did comes before what the next one does.
        if (taken.compare_exchange_weak(before, before | std::uint64_t{1} << number,
                                        std::memory_order_acquire, std::memory_order_relaxed)) {
            return static_cast<rma::ThreadNumber>(number);
        }
    }
}

/// One thread's. Whoever has its number next may wait for what it has left under way, too.
struct Number {
    rma::ThreadNumber value = rma::no_thread;

    Number() noexcept = default;
    Number(const Number&) = delete;
    Number& operator=(const Number&) = delete;
    ~Number()
    {
        if (value != rma::no_thread) {
            taken.fetch_and(~(std::uint64_t{1} << value), std::memory_order_release);
        }
    }
};

} // namespace

rma::ThreadNumber number_of_caller() noexcept
{
    thread_local Number number;
    if (number.value == rma::no_thread) [[unlikely]] {
        number.value = take();
    }
    return number.value;
}

} // namespace sidelight::runtime
