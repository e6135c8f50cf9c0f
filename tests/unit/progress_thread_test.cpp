// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/progress_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "unit/open_files.hpp"

namespace sidelight::host::node {
namespace {

using namespace std::chrono_literals;

std::atomic<int> sweeps{0};

bool sweep() noexcept
{
    ++sweeps;
    return false;
}

/// Whether there are more than so many from now on, on a busy machine after a while.
bool sweeps_exceed(int number)
{
    const int before = sweeps;
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (sweeps - before <= number && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(1ms);
    }
    return sweeps - before > number;
}

/// Who stores for it must know, from its first look on, that it does not linger. Whoever starts it
/// goes on beside it, sooner or later.
TEST(ProgressThreads, SayThatTheySleepForLongBeforeTheyLook)
{
    static Doorbell bell;
    static std::atomic<bool> lingered{false};
    Waiter waiter(bell);
    for (int starts = 0; starts < 200; ++starts) {
        waiter.expect_short_sleeps();
        const int before = sweeps;
        ProgressThread thread;
        ASSERT_TRUE(thread.start(waiter, {.sweep = []() noexcept {
                                     lingered = lingered || bell.lingering();
                                     return sweep();
                                 }}));
        while (sweeps == before) {
            std::this_thread::yield();
        }
    }
    EXPECT_FALSE(lingered);
}

/// Nothing wakes it for a message then.
TEST(ProgressThreads, LookByThemselvesWithoutAPipe)
{
    Doorbell bell;
    Waiter waiter(bell);
    ProgressThread thread;
    ASSERT_TRUE(thread.start(waiter, {.sweep = sweep}));
    std::this_thread::sleep_for(20ms);
    {
        const unit::FileLimit none(static_cast<rlim_t>(unit::next_descriptor()));
        waiter.listen_to({});
    }
    EXPECT_TRUE(waiter.is_deaf());
    EXPECT_TRUE(sweeps_exceed(4)); // two without
    waiter.stop_listening();
    thread.stop();
}

/// The program has closed the network's own descriptors.
TEST(ProgressThreads, LookByThemselvesWhereTheNetworkRefuses)
{
    Doorbell bell;
    Waiter waiter(bell);
    ProgressThread thread;
    waiter.listen_to({.arm = [](void* /*context*/) noexcept { return Arming::refused; }});
    ASSERT_TRUE(thread.start(waiter, {.sweep = sweep}));
    EXPECT_TRUE(sweeps_exceed(4)); // two without
    const int before = sweeps;
    std::this_thread::sleep_for(200ms);
    EXPECT_LT(sweeps - before, 400);
    waiter.stop_listening();
    thread.stop();
}

} // namespace
} // namespace sidelight::host::node
