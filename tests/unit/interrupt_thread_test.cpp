// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/interrupt_thread.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "unit/open_files.hpp"

namespace sidelight::host::node {
namespace {

using namespace std::chrono_literals;

class InterruptThreads : public testing::Test {
protected:
    InterruptThreads() { sweeps = 0; }

    /// Answers how often the thread has looked meanwhile.
    static int sweeps_in(std::chrono::milliseconds time)
    {
        const int before = sweeps;
        std::this_thread::sleep_for(time);
        return sweeps - before;
    }
    /// Whether it looks more often than that, on a busy machine after a while.
    static bool sweeps_exceed(int number)
    {
        const int before = sweeps;
        const auto end = std::chrono::steady_clock::now() + patience;
        while (sweeps - before <= number && std::chrono::steady_clock::now() < end) {
            std::this_thread::sleep_for(1ms);
        }
        return sweeps - before > number;
    }
    /// Whether it looks no more, also where it is late to be through with what it has begun.
    static bool comes_to_rest()
    {
        const auto end = std::chrono::steady_clock::now() + patience;
        while (sweeps_in(100ms) != 0) {
            if (std::chrono::steady_clock::now() >= end) {
                return false;
            }
        }
        return true;
    }
    /// A sweep that may not have the engine, and answers nobody.
    static bool sweep() noexcept
    {
        ++sweeps;
        return false;
    }

    static constexpr auto patience = 60s;
    static inline std::atomic<int> sweeps;
    Doorbell bell_;
    Waiter waiter_{bell_};
    Recall recall_;
    InterruptThread thread_;
};

/// Who stores for it must know, from its first look on, that it does not linger. Whoever starts it
/// goes on beside it, sooner or later.
TEST_F(InterruptThreads, SayThatTheySleepForLongBeforeTheyLook)
{
    static Doorbell* bell = nullptr;
    static std::atomic<bool> lingered{false};
    bell = &bell_;
    for (int starts = 0; starts < 200; ++starts) {
        waiter_.expect_short_sleeps();
        const int before = sweeps;
        ASSERT_TRUE(thread_.start(waiter_, recall_, {.sweep = []() noexcept {
                                      lingered = lingered || bell->lingering();
                                      return sweep();
                                  }}));
        while (sweeps == before) {
            std::this_thread::yield();
        }
        thread_.stop();
    }
    EXPECT_FALSE(lingered);
}

TEST_F(InterruptThreads, SleepWhileNothingHappens)
{
    ASSERT_TRUE(thread_.start(waiter_, recall_, {.sweep = sweep}));
    EXPECT_TRUE(comes_to_rest());
}

/// The kernel may begin to refuse its barrier while the program runs.
TEST_F(InterruptThreads, DoNotSpinForALookThatTheyMayNotTake)
{
    Interest& interest = bell_.interest();
    Wanted wanted;
    wanted.add({.bits = 1, .value = 7, .any_value = false});
    interest.enter();
    while (!interest.leave(wanted)) {
    }
    ASSERT_TRUE(thread_.start(waiter_, recall_, {.sweep = sweep}));
    bell_.ring({.bits = 1, .value = 7, .any_value = false});
    EXPECT_LT(sweeps_in(200ms), 400);
    EXPECT_TRUE(interest.is_called());
}

/// Nothing wakes them for a message then.
TEST_F(InterruptThreads, LookByThemselvesWithoutAPipe)
{
    ASSERT_TRUE(thread_.start(waiter_, recall_, {.sweep = sweep}));
    std::this_thread::sleep_for(20ms);
    {
        const unit::FileLimit none(static_cast<rlim_t>(unit::next_descriptor()));
        waiter_.listen_to({});
    }
    EXPECT_FALSE(waiter_.listens());
    EXPECT_TRUE(sweeps_exceed(1));
    waiter_.stop_listening();
    EXPECT_TRUE(comes_to_rest());
}

TEST_F(InterruptThreads, SleepAtANetworkThatTellsThem)
{
    ASSERT_TRUE(thread_.start(waiter_, recall_, {.sweep = sweep}));
    waiter_.listen_to({.arm = [](void* /*context*/) noexcept { return Arming::armed; }});
    EXPECT_TRUE(comes_to_rest());
    waiter_.stop_listening();
}

/// The program has closed the network's own descriptors.
TEST_F(InterruptThreads, LookByThemselvesWhereTheNetworkRefuses)
{
    ASSERT_TRUE(thread_.start(waiter_, recall_, {.sweep = sweep}));
    waiter_.listen_to({.arm = [](void* /*context*/) noexcept { return Arming::refused; }});
    EXPECT_TRUE(sweeps_exceed(4)); // two without
    EXPECT_LT(sweeps_in(200ms), 400);
    waiter_.stop_listening();
}

} // namespace
} // namespace sidelight::host::node
