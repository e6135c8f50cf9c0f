// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/loop_pause.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include <sched.h>

namespace sidelight::unit {
namespace {

using namespace std::chrono_literals;
using host::node::Calm;
using host::node::core_use;
using host::node::CoreDemand;
using host::node::CoreUse;
using host::node::LoopPause;
using host::node::Recurring;
using host::node::Waiter;

constexpr std::chrono::nanoseconds start = 1s;

/// A thread that has had the core for `used` of `time` since `before`.
CoreUse later(const CoreUse& before, std::chrono::nanoseconds time, std::chrono::nanoseconds used,
              long slept = 0, long displaced = 1)
{
    return {.now = before.now + time,
            .used = before.used + used,
            .slept = before.slept + slept,
            .displaced = before.displaced + displaced};
}

/// Whether the core counts as wanted after two looks, with the same between each and the one
/// before.
bool is_wanted_after(std::chrono::nanoseconds time, std::chrono::nanoseconds used, long slept = 0,
                     long displaced = 1)
{
    CoreDemand demand;
    CoreUse use{.now = start, .used = 10ms, .slept = 5, .displaced = 7};
    demand.look(use);
    for (int looks = 0; looks < 2; ++looks) {
        EXPECT_FALSE(demand.is_wanted(use.now));
        use = later(use, time, used, slept, displaced);
        demand.look(use);
    }
    return demand.is_wanted(use.now);
}

TEST(CoreDemand, SeesWhoComputes)
{
    EXPECT_TRUE(is_wanted_after(6ms, 3ms));
    EXPECT_TRUE(is_wanted_after(6ms, 4ms));
}

TEST(CoreDemand, IsNotMovedByWhatTheSystemTakes)
{
    EXPECT_FALSE(is_wanted_after(1ms, 300us));
    EXPECT_FALSE(is_wanted_after(30ms, 27ms, 0, 60));
}

TEST(CoreDemand, IsNotMovedByRareLosses) { EXPECT_FALSE(is_wanted_after(60ms, 30ms)); }

TEST(CoreDemand, DoesNotTakeSleepForLoss)
{
    EXPECT_FALSE(is_wanted_after(6ms, 3ms, 1));
    EXPECT_FALSE(is_wanted_after(6ms, 3ms, 0, 0)) << "nobody else ran";
}

TEST(CoreDemand, Forgets)
{
    CoreDemand demand;
    CoreUse use{.now = start, .used = 10ms, .slept = 5, .displaced = 7};
    demand.look(use);
    demand.look(use = later(use, 6ms, 3ms));
    demand.look(use = later(use, 6ms, 3ms));
    EXPECT_FALSE(demand.is_due(use.now));
    EXPECT_TRUE(demand.is_due(use.now + CoreDemand::between_looks));
    demand.look(later(use, 2ms, 2ms, 0, 0));
    EXPECT_TRUE(demand.is_wanted(use.now + 2ms)) << "one quiet look says little";
    EXPECT_FALSE(demand.is_wanted(use.now + Recurring::memory));
}

TEST(CoreDemand, ReadsTheThreadsOwnUse)
{
    const CoreUse before = core_use(start);
    std::this_thread::sleep_for(1ms);
    const auto end = std::chrono::steady_clock::now() + 2ms;
    while (std::chrono::steady_clock::now() < end) {
    }
    const CoreUse after = core_use(start);
    EXPECT_GT(after.slept, before.slept);
    EXPECT_GT(after.used, before.used);
}

void stay_on_core(int core)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
}

bool count(void* calls) noexcept
{
    ++*static_cast<int*>(calls);
    return false;
}

/// Turns of a loop that others share a core with, each of which sends and takes `messages`, until
/// there were ten naps or `time` is over. At first nothing comes, as while a window is made; that
/// counts for neither. Answers the naps: each asks once before it sleeps.
int naps_beside_another(int messages, std::chrono::seconds time)
{
    constexpr int first_turns = 10'000;
    const int core = sched_getcpu();
    std::atomic<bool> over{false};
    std::thread other([&] {
        stay_on_core(core);
        while (!over.load(std::memory_order_relaxed)) {
        }
    });
    int naps = 0;
    std::thread loop([&] {
        stay_on_core(core);
        Doorbell bell;
        Waiter waiter(bell);
        waiter.expect_long_sleeps(); // nobody lingers: one question for each
        LoopPause pause;
        std::chrono::steady_clock::time_point end;
        for (int turn = 0;
             turn <= first_turns || (naps < 10 && std::chrono::steady_clock::now() < end); ++turn) {
            if (turn == first_turns) {
                naps = 0;
                end = std::chrono::steady_clock::now() + time;
            }
            pause.enter();
            pause.leave(waiter, false, true, count, &naps);
            for (int message = 0; turn > first_turns && message < messages; ++message) {
                static_cast<void>(core_use(start));
            }
        }
    });
    loop.join();
    over.store(true);
    other.join();
    return naps;
}

TEST(LoopPause, SleepsWhereAnotherComputes) { EXPECT_GE(naps_beside_another(0, 600s), 10); }

TEST(LoopPause, GoesOnWhileTheLoopHasWork) { EXPECT_LT(naps_beside_another(10, 1s), 10); }

TEST(LoopPause, GoesOnWhileSomethingMoves)
{
    Doorbell bell;
    Waiter waiter(bell);
    LoopPause pause;
    int naps = 0;
    const auto end = std::chrono::steady_clock::now() + 50ms;
    for (int turn = 0; std::chrono::steady_clock::now() < end; ++turn) {
        pause.enter();
        pause.leave(waiter, turn % 8 == 0, true, count, &naps);
    }
    EXPECT_EQ(naps, 0);
}

constexpr std::chrono::nanoseconds idle = 1us; ///< of 16 turns

TEST(Calm, IsBelievedWhenTheLoopIsKnown)
{
    Calm calm;
    for (int looks = 0; looks < 63; ++looks) {
        calm.add(idle, 16);
        EXPECT_FALSE(calm.lasts());
    }
    calm.add(idle, 16);
    EXPECT_TRUE(calm.lasts());
    calm.disturb();
    EXPECT_FALSE(calm.lasts());
    EXPECT_TRUE(calm.is_over());
}

/// A program that tests between pieces of work, and has never waited.
TEST(Calm, IsNotWhatAlwaysTakesLong)
{
    Calm calm;
    for (int looks = 0; looks < 200; ++looks) {
        calm.add(16 * 4us, 16);
        EXPECT_FALSE(calm.lasts());
    }
}

/// How often calm lasts in 1000 looks, of which `disturbed` in ten take five times as long.
int calm_looks(int disturbed)
{
    Calm calm;
    for (int looks = 0; looks < 100; ++looks) {
        calm.add(idle, 16);
    }
    int lasting = 0;
    for (int looks = 0; looks < 1000; ++looks) {
        calm.add(looks % 10 < disturbed ? 5 * idle : idle + idle * (looks % 3) / 2, 16);
        lasting += calm.lasts() ? 1 : 0;
    }
    return lasting;
}

TEST(Calm, SurvivesInterruptionsAndNoMessages)
{
    EXPECT_EQ(calm_looks(0), 1000);
    EXPECT_EQ(calm_looks(1), 1000);
    EXPECT_LT(calm_looks(5), 10);
    EXPECT_EQ(calm_looks(10), 2);
}

} // namespace
} // namespace sidelight::unit
