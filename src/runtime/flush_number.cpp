// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/flush_number.hpp"

#include <atomic>
#include <optional>

#include "base/log.hpp"
#include "base/number_pool.hpp"

namespace sidelight::runtime {

namespace {

/// The numbers are those of the pool from 1 on: 0 is no_thread.
static_assert(rma::no_thread == 0 && rma::most_thread_numbers <= NumberPool::most);
constinit NumberPool pool(rma::most_thread_numbers);

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
    const std::optional<unsigned> taken = pool.take();
    if (!taken) {
        tell_that_all_are_taken();
        return rma::no_thread;
    }
    return static_cast<rma::ThreadNumber>(*taken + 1);
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
            pool.give_back(value - 1U);
        }
    }
};

} // namespace

rma::ThreadNumber flush_number_of_thread() noexcept
{
    thread_local Number number;
    if (number.value == rma::no_thread) [[unlikely]] {
        number.value = take();
    }
    return number.value;
}

} // namespace sidelight::runtime
