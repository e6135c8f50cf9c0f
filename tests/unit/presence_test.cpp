// SPDX-License-Identifier: BSD-3-Clause
#include "messages/presence.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace sidelight::messages {
namespace {

TEST(Presence, NoStepBeginsWhileTheProgramIsInside)
{
    Presence presence;
    presence.enter();
    presence.enter();
    EXPECT_FALSE(presence.try_begin_step());
    presence.leave();
    EXPECT_FALSE(presence.try_begin_step());
    presence.leave();
    EXPECT_TRUE(presence.try_begin_step());
    EXPECT_TRUE(presence.is_stepping());
    presence.end_step();
    EXPECT_FALSE(presence.is_stepping());
}

/// A handler of signals may run in a step, on our thread, and must not wait for its end.
TEST(Presence, WhoStepsKnowsIt)
{
    Presence presence;
    EXPECT_FALSE(Presence::is_stepping_here());
    EXPECT_TRUE(presence.try_begin_step());
    EXPECT_TRUE(Presence::is_stepping_here());
    std::thread([] { EXPECT_FALSE(Presence::is_stepping_here()); }).join();
    presence.end_step();
    EXPECT_FALSE(Presence::is_stepping_here());
    presence.enter();
    EXPECT_FALSE(presence.try_begin_step());
    EXPECT_FALSE(Presence::is_stepping_here());
    presence.leave();
}

TEST(Presence, VisitsAreSeenAfterwards)
{
    Presence presence;
    const auto before = presence.visits();
    EXPECT_TRUE(presence.try_begin_step());
    presence.end_step();
    EXPECT_EQ(presence.visits(), before);
    presence.enter();
    const auto inside = presence.visits();
    EXPECT_NE(inside, before);
    presence.leave();
    EXPECT_EQ(presence.visits(), inside);
}

/// Who comes during a step waits for its end, also where it has to sleep for that.
TEST(Presence, TheProgramWaitsForTheEndOfAStep)
{
    Presence presence;
    std::atomic<bool> over{false};
    ASSERT_TRUE(presence.try_begin_step());
    std::vector<std::thread> program;
    for (int i = 0; i < 3; ++i) {
        program.emplace_back([&] {
            presence.enter();
            EXPECT_TRUE(over.load());
            presence.leave();
        });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    over.store(true);
    presence.end_step();
    for (std::thread& thread : program) {
        thread.join();
    }
    EXPECT_TRUE(presence.try_begin_step());
}

/// It may hold what the step waits for.
TEST(Presence, WhoForksDoesNotWaitForEver)
{
    Presence presence;
    ASSERT_TRUE(presence.try_begin_step());
    presence.enter_before_long();
    EXPECT_TRUE(presence.is_stepping());
    presence.end_step();
    EXPECT_FALSE(presence.try_begin_step());
    presence.leave();
    EXPECT_TRUE(presence.try_begin_step());
}

/// What one side writes without a lock the other one reads.
TEST(Presence, StepsAndCallsExcludeEachOther)
{
    constexpr int calls = 30000;
    Presence presence;
    std::atomic<int> inside{0};
    std::atomic<bool> stepping{false};
    std::atomic<int> running{3};
    std::atomic<int> wrong{0};
    std::vector<std::thread> program;
    for (int i = 0; i < 3; ++i) {
        program.emplace_back([&] {
            for (int call = 0; call < calls; ++call) {
                presence.enter();
                inside.fetch_add(1, std::memory_order_relaxed);
                wrong += stepping.load(std::memory_order_relaxed) ? 1 : 0;
                inside.fetch_sub(1, std::memory_order_relaxed);
                presence.leave();
            }
            --running;
        });
    }
    while (running.load() > 0) {
        if (presence.try_begin_step()) {
            stepping.store(true, std::memory_order_relaxed);
            wrong += inside.load(std::memory_order_relaxed) != 0 ? 1 : 0;
            stepping.store(false, std::memory_order_relaxed);
            presence.end_step();
        }
    }
    for (std::thread& thread : program) {
        thread.join();
    }
    EXPECT_EQ(wrong.load(), 0);
}

} // namespace
} // namespace sidelight::messages
