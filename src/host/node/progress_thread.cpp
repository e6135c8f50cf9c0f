// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/progress_thread.hpp"

#include <algorithm>
#include <chrono>

#include "host/node/own_thread.hpp"

namespace sidelight::host::node {

namespace {

/// Everything that it waits for wakes it, but for peers that could not map this process's doorbell.
constexpr std::chrono::milliseconds longest_sleep{100};

/// While the program calls again and again its calls look after everything themselves, and each
/// sweep of the thread's, and each ring for it, would only cost them time. So it stands back, at no
/// doorbell, for naps that grow; a program that stops calling is noticed after one of them.
constexpr std::chrono::microseconds first_nap{100};
constexpr std::chrono::microseconds longest_nap{500};
/// Calls that are complete at once look after nothing: then it comes nevertheless.
constexpr std::chrono::microseconds longest_absence{5000};

} // namespace

bool ProgressThread::start(Waiter& waiter, bool (*sweep)() noexcept,
                           bool (*program_came)() noexcept) noexcept
{
    if (runs()) {
        return true;
    }
    waiter_ = &waiter;
    waiter.expect_long_sleeps();
    sweep_ = sweep;
    program_came_ = program_came;
    stopping_.store(false, std::memory_order_relaxed);
    thread_ = start_own_thread(
        "progress", [](void* self) noexcept { static_cast<ProgressThread*>(self)->run(); }, this);
    return runs();
}

void ProgressThread::stop() noexcept
{
    if (runs()) {
        stopping_.exchange(true, std::memory_order_seq_cst);
        waiter_->rouse();
        thread_.join();
    }
}

void ProgressThread::run() noexcept
{
    while (!stopping_.load(std::memory_order_relaxed)) {
        waiter_->doze(
            [](void* self) noexcept { return static_cast<ProgressThread*>(self)->look(); }, this,
            longest_sleep);
        stand_back();
    }
}

void ProgressThread::stand_back() noexcept
{
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + longest_absence;
    auto nap = first_nap;
    while (!stopping_.load(std::memory_order_relaxed) && program_came_() && Clock::now() < end) {
        std::this_thread::sleep_for(nap);
        nap = std::min(2 * nap, longest_nap);
    }
}

/// What keeps it from going to sleep.
bool ProgressThread::look() noexcept
{
    return stopping_.load(std::memory_order_relaxed) || sweep_();
}

} // namespace sidelight::host::node
