// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/progress_thread.hpp"

#include <algorithm>
#include <chrono>

namespace sidelight::host::node {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

} // namespace

bool ProgressThread::start(Waiter& waiter, const OwnThreadWork& work) noexcept
{
    if (runs()) {
        return true;
    }
    waiter_ = &waiter;
    work_ = work;
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
    waiter_->expect_long_sleeps(); // by itself, so none comes before
    while (!stopping_.load(std::memory_order_relaxed)) {
        knows_of_more_ = work_.has_more();
        waiter_->doze(
            [](void* self) noexcept { return static_cast<ProgressThread*>(self)->look(); }, this,
            knows_of_more_ || waiter_->is_deaf() ? longest_busy_sleep : longest_deaf_sleep);
        stand_back();
    }
}

/// While the program calls again and again its calls look after everything themselves, and each
/// sweep of the thread's, and each ring for it, would only cost them time. So it stands back, at no
/// doorbell, for naps that grow; a program that stops calling is noticed after one of them. Calls
/// that are complete at once look after nothing: then it comes nevertheless, at the end.
void ProgressThread::stand_back() noexcept
{
    constexpr auto longest_nap = 500us;
    const Clock::time_point end = Clock::now() + 5ms;
    auto nap = 100us;
    while (!stopping_.load(std::memory_order_relaxed) && work_.program_came() &&
           Clock::now() < end) {
        std::this_thread::sleep_for(nap);
        nap = std::min(2 * nap, longest_nap);
    }
}

/// What keeps it from going to sleep. What is left from now on, it is told of.
bool ProgressThread::look() noexcept
{
    return stopping_.load(std::memory_order_relaxed) || work_.sweep() ||
           (!knows_of_more_ && work_.has_more());
}

} // namespace sidelight::host::node
