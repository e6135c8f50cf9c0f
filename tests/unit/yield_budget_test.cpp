// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/yield_budget.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace sidelight::unit {
namespace {

using host::node::Recurring;
using host::node::YieldBudget;

/// The yields of so many waits, each of which would end after `needed` of them.
int yields_of(YieldBudget& budget, int waits, int needed)
{
    int sum = 0;
    for (int wait = 0; wait < waits; ++wait) {
        const int allowed = budget.next();
        if (needed <= allowed) {
            budget.found_after(needed);
        } else {
            budget.found_nobody(allowed);
        }
        sum += std::min(needed, allowed);
    }
    return sum;
}

constexpr int in_vain = 1'000'000;
constexpr int trial = YieldBudget::waits_per_trial;

TEST(YieldBudget, FallsWhereYieldsFindNobody)
{
    YieldBudget budget;
    yields_of(budget, 10 * trial, in_vain);
    EXPECT_EQ(yields_of(budget, trial, in_vain),
              (trial - 1) * YieldBudget::least + YieldBudget::most);
}

TEST(YieldBudget, RisesWithinATrialWhereTheyFindSomebody)
{
    YieldBudget budget;
    yields_of(budget, 10 * trial, in_vain);
    yields_of(budget, trial, YieldBudget::most);
    EXPECT_EQ(yields_of(budget, 10 * trial, YieldBudget::most), 10 * trial * YieldBudget::most);
}

TEST(YieldBudget, LeavesRoomAboveWhatWasNeeded)
{
    YieldBudget budget;
    yields_of(budget, 10 * trial, in_vain);
    yields_of(budget, trial, 12);
    EXPECT_EQ(yields_of(budget, 10, 20), 200);
}

TEST(YieldBudget, ALateOneAmongManyCostsLittle)
{
    YieldBudget budget;
    for (int round = 0; round < 100; ++round) {
        EXPECT_EQ(yields_of(budget, 8, 12), 8 * 12);
        yields_of(budget, 1, in_vain);
    }
}

TEST(YieldBudget, HasNoneForAWhileAfterTwoToWhoComputes)
{
    using namespace std::chrono_literals;
    YieldBudget budget;
    EXPECT_FALSE(budget.lasted(1s, 1s + 20us));
    EXPECT_TRUE(budget.lasted(1s, 1s + 4ms));
    EXPECT_FALSE(budget.is_computed_on(1s + 5ms)) << "one may be the system's";
    EXPECT_TRUE(budget.lasted(1s + 10ms, 1s + 14ms));
    EXPECT_TRUE(budget.is_computed_on(1s + 15ms));
    EXPECT_FALSE(budget.lasted(1s + 15ms, 1s + 15ms + 1us)) << "which says nothing of the next";
    EXPECT_TRUE(budget.is_computed_on(1s + 100ms));
    EXPECT_FALSE(budget.is_computed_on(1s + 14ms + Recurring::memory));
}

TEST(YieldBudget, SlicesFarApartSayNothing)
{
    using namespace std::chrono_literals;
    YieldBudget budget;
    for (auto now = 1s; now < 10s; now += 1s) {
        EXPECT_TRUE(budget.lasted(now, now + 4ms));
        EXPECT_FALSE(budget.is_computed_on(now + 5ms));
    }
}

} // namespace
} // namespace sidelight::unit
