// SPDX-License-Identifier: BSD-3-Clause
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include "scenario.hpp"
#include "survivors.hpp"

/// A node dies at some time in each of many random programs: everybody else comes to its end, with
/// errors where the dead were needed, and what they were told to be complete is there.
/// SIDELIGHT_SIM_DEATH_SEED in the environment runs one seed and prints its trace.
namespace sidelight::sim {

TEST(Loss, SurvivorsComeToTheirEnds)
{
    const char* wanted = std::getenv("SIDELIGHT_SIM_DEATH_SEED");
    const std::uint64_t first = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 0;
    const Outcome outcome = run_deaths(first, wanted != nullptr ? 1 : 20'000);
    ASSERT_TRUE(outcome.ok) << "SIDELIGHT_SIM_DEATH_SEED=" << outcome.failed << ": "
                            << outcome.failure;
    const Deaths seen = deaths();
    std::printf("%" PRIu64 " seeds; survivors' requests: %" PRIu64 " complete, %" PRIu64
                " with an error; %" PRIu64 " operations proved\n",
                outcome.seeds, seen.complete, seen.failed, seen.proved);
    if (wanted == nullptr) {
        EXPECT_GT(seen.failed, seen.complete / 100);
        EXPECT_GT(seen.proved, outcome.seeds);
        EXPECT_GT(seen.got, outcome.seeds / 10);
    }
}

/// A member that leaves the broken window behind an epoch that it has answered is no failure of
/// that epoch, wherever its leaving comes in between.
TEST(Loss, AnAnsweredEpochSucceedsThoughItsTargetHasLeft)
{
    int answered = 0;
    for (std::uint64_t looks = 1; looks < 120; ++looks) {
        Draft d(3, 1);
        d.program().dying_node = 2;
        d.program().dies_at = 1;
        Author target = d.rank(1);
        target.lock(LockType::shared, 2);
        target.unlock(2, blocking); // hears of the loss
        std::size_t seen = 0;
        for (std::uint64_t look = 0; look < looks; ++look) {
            target.lock(LockType::exclusive, 1);
            seen = target.fetch_add(1);
            target.unlock(1, blocking);
        }
        Author origin = d.rank(0);
        origin.compute(3'000);
        origin.lock(LockType::exclusive, 1);
        origin.await_grant(1);
        origin.add(1);
        const auto unlock = origin.unlock(1, nonblocking);
        origin.compute(100'000); // finds the answer and the leaving at once
        origin.wait_for({static_cast<int>(unlock)});
        run(d.finish(), [&](World& world) {
            if (world.rank(1).result(seen)[0] == looks) { // behind the origin's epoch
                ++answered;
                EXPECT_EQ(world.rank(0).status(unlock), Status::ok) << looks;
            }
        });
    }
    EXPECT_GT(answered, 0);
}

/// A member that has failed at a fence does not stand, with its next one, for another that has not
/// come yet: no fence behind a loss succeeds.
TEST(Loss, NoFenceIsPassedBehindIt)
{
    Draft d(4, 3); // the leaders are 2 and 3
    d.program().dying_node = 1;
    d.program().dies_at = 20'000;
    d.rank(3).fence(blocking); // its leader's message arrives
    Author leader = d.rank(2);
    for (int look = 0; look < 2; ++look) { // hears of the other's message, and then of the loss
        leader.compute(10'000 + look * 1'000'000);
        leader.lock(LockType::exclusive, 2);
        leader.unlock(2, blocking);
    }
    leader.compute(2'000'000);
    const auto fence = leader.fence(blocking);
    Author early = d.rank(0);
    early.compute(2'000'000);
    early.fence(blocking);
    early.fence(blocking);
    Author late = d.rank(1);
    late.compute(9'000'000);
    late.fence(blocking);
    run(d.finish(), [&](World& world) { EXPECT_EQ(world.rank(2).status(fence), Status::lost); });
}

} // namespace sidelight::sim
