// SPDX-License-Identifier: BSD-3-Clause
#include <cinttypes>
#include <cstdio>

#include <gtest/gtest.h>

#include "early_return.hpp"
#include "scenario.hpp"
#include "seeds.hpp"

/// Closing calls that return before late targets have come (docs/design/early-return.md).
namespace sidelight::sim {

namespace {

constexpr std::size_t much = 1'000'000;
constexpr Time late = 5'000'000;

Draft helped(int ranks, int node_size, std::size_t bytes)
{
    Draft d(ranks, node_size);
    d.program().progress_percent = 0;
    d.program().smart = true;
    d.program().early_bytes = bytes;
    return d;
}

/// From rank 0 to rank 1. Answers which step completes it, blocking.
auto put_to_late_target(Draft& d)
{
    Author origin = d.rank(0);
    origin.start({1});
    origin.write(Call::put, 1, 50);
    origin.make_bare();
    const auto complete = origin.complete(blocking);
    d.rank(1).compute(late);
    d.rank(1).post({0});
    d.rank(1).wait(blocking);
    return complete;
}

} // namespace

/// With room for nothing, for little and for much, data arrive where they should, in their order;
/// and nobody hangs, also while all ranks wait for each other in memory.
TEST(EarlyReturn, BlockingProgramsHoldAllProperties)
{
    const Outcome outcome = run_programs(0, 20'000, true, draw_blocking);
    ASSERT_TRUE(outcome.ok) << "seed " << outcome.failed << ": " << outcome.failure;
    std::printf("%" PRIu64 " calls have returned early\n", outcome.statistics.early_returns);
    EXPECT_GT(outcome.statistics.early_returns, outcome.seeds / 10);
}

TEST_P(Scenarios, CompleteReturnsBeforeALateTarget)
{
    for (const std::size_t bytes : {std::size_t{0}, much}) {
        Draft d = helped(3, GetParam(), bytes);
        Author origin = d.rank(0);
        origin.start({1});
        origin.write(Call::put, 1, 100);
        origin.make_bare();
        const auto complete = origin.complete(blocking);
        origin.post({2}); // neither this nor that waits for it
        origin.wait(blocking);
        origin.start({2});
        origin.write(Call::put, 2);
        origin.make_bare();
        const auto next = origin.complete(blocking);
        origin.compute(2 * late); // and it makes no call when the target comes
        d.rank(1).compute(late);
        d.rank(1).post({0});
        const auto wait = d.rank(1).wait(blocking);
        d.rank(2).start({0});
        d.rank(2).write(Call::put, 0);
        d.rank(2).make_bare();
        d.rank(2).complete(blocking);
        d.rank(2).post({0});
        d.rank(2).wait(blocking);
        run(d.finish(), [&](World& world) {
            EXPECT_EQ(world.rank(0).times(complete).done < late, bytes != 0);
            EXPECT_EQ(world.rank(0).times(next).done < late, bytes != 0);
            EXPECT_LT(world.rank(1).times(wait).done, 2 * late);
        });
    }
}

/// Targets on its node that perform what they are offered do as well as a thread, for one access of
/// each: for the next one the call waits, or where anything else is left.
TEST(EarlyReturn, NeedsNoThreadWhereTargetsPerformWhatIsOffered)
{
    enum class Left { put, accumulate, pieces, two };
    for (const Left left : {Left::put, Left::accumulate, Left::pieces, Left::two}) {
        Draft d = helped(2, 2, much);
        d.program().smart = false;
        d.program().direct = true;
        Author origin = d.rank(0);
        Author target = d.rank(1);
        std::size_t complete = 0;
        for (int access = left == Left::two ? 2 : 1; access > 0; --access) {
            origin.start({1});
            origin.write(left == Left::accumulate ? Call::accumulate : Call::put, 1, 50,
                         left == Left::pieces ? Spread::every_other : Spread::none);
            origin.make_bare();
            complete = origin.complete(blocking);
        }
        origin.compute(3 * late); // and it makes no call when the target comes
        target.compute(late);
        std::size_t wait = 0;
        for (int access = left == Left::two ? 2 : 1; access > 0; --access) {
            target.post({0});
            wait = target.wait(blocking);
        }
        run(d.finish(), [&](World& world) {
            EXPECT_EQ(world.rank(0).times(complete).done < late,
                      left == Left::put || left == Left::accumulate);
            EXPECT_LT(world.rank(1).times(wait).done, 2 * late);
        });
    }
}

/// A lock waits for what is kept, and that of another thread may be what the target waits for.
TEST_P(Scenarios, CompleteWaitsWhereTheProgramHasThreads)
{
    Draft d = helped(2, GetParam(), much);
    d.program().has_threads = true;
    const auto complete = put_to_late_target(d);
    run(d.finish(), [&](World& world) { EXPECT_GT(world.rank(0).times(complete).done, late); });
}

/// Where there is no room for a second one its call waits until there is, or its target comes.
TEST_P(Scenarios, CompleteWaitsForRoomOrForItsTarget)
{
    for (const bool first_comes : {true, false}) {
        Draft d = helped(3, GetParam(), 3'000); // for one of them, beside its record
        Author origin = d.rank(0);
        origin.start({1});
        origin.write(Call::put, 1, 150);
        origin.make_bare();
        const auto first = origin.complete(blocking);
        origin.start({2});
        origin.write(Call::put, 2, 150);
        origin.make_bare();
        const auto second = origin.complete(blocking);
        origin.compute(10 * late);
        d.rank(1).compute(first_comes ? late : 5 * late);
        d.rank(1).post({0});
        d.rank(1).wait(blocking);
        d.rank(2).compute(first_comes ? 5 * late : late);
        d.rank(2).post({0});
        d.rank(2).wait(blocking);
        run(d.finish(), [&](World& world) {
            EXPECT_LT(world.rank(0).times(first).done, late);
            EXPECT_GT(world.rank(0).times(second).done, late);
            EXPECT_LT(world.rank(0).times(second).done, 2 * late);
        });
    }
}

/// A rank that would hold the lock of a late target's while it waits for that target.
TEST_P(Scenarios, LocksWaitForWhatIsKept)
{
    Draft d = helped(2, GetParam() < 2 ? GetParam() : 2, much);
    Author origin = d.rank(0);
    origin.start({1});
    origin.write(Call::put, 1);
    origin.make_bare();
    origin.complete(blocking);
    origin.lock(LockType::exclusive, 1);
    origin.write(Call::put, 1);
    origin.make_bare();
    const auto unlock = origin.unlock(1, blocking);
    Author target = d.rank(1);
    target.compute(late);
    target.lock(LockType::exclusive, 1);
    target.write(Call::put, 1);
    target.make_bare();
    target.unlock(1, blocking);
    target.post({0});
    target.wait(blocking);
    run(d.finish(), [&](World& world) { EXPECT_GT(world.rank(0).times(unlock).done, late); });
}

/// Who frees the window waits for what is kept.
TEST_P(Scenarios, ClosingAWindowDrains)
{
    Draft d = helped(2, GetParam() < 2 ? GetParam() : 2, much);
    const auto complete = put_to_late_target(d);
    run(d.finish(), [&](World& world) {
        EXPECT_LT(world.rank(0).times(complete).done, late);
        EXPECT_GT(world.rank(0).times(complete + 1).done, late);
    });
}

} // namespace sidelight::sim
