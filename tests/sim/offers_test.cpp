// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "offers.hpp"
#include "scenario.hpp"
#include "seeds.hpp"

/// What those who wait do for origins that compute: docs/design/offers.md.
namespace sidelight::sim {

namespace {

constexpr Time late = 10'000;
constexpr Time computing = 5'000'000;

/// The parameter: whether operations go by messages where nobody does them in another way.
class OffersOnANode : public testing::TestWithParam<bool> {
protected:
    [[nodiscard]] static Draft draft(int ranks)
    {
        Draft draft(ranks, ranks);
        draft.program().progress_percent = 0; // only blocking calls sweep
        draft.program().carried = GetParam();
        return draft;
    }
};

/// One access of rank 0 to some targets, which then computes. Answers the step that closes it.
std::size_t compute_after_access(Draft& d, const std::vector<int>& targets)
{
    std::vector<Shown> shown;
    for (const int target : targets) {
        shown.push_back(d.rank(target).expose(20));
    }
    Author origin = d.rank(0);
    origin.start(targets);
    for (std::size_t index = 0; index < targets.size(); ++index) {
        origin.write(Call::put, targets[index], 50);
        origin.get(targets[index], shown[index]); // an even step: no accumulate that reads
        origin.write(Call::put, targets[index], 6, Spread::every_other);
        origin.make_bare();
        origin.write(Call::accumulate, targets[index], 3);
        origin.add(targets[index]);
        origin.add(targets[index]);
    }
    const std::size_t closing = origin.complete(nonblocking);
    origin.compute(computing);
    origin.wait_for({static_cast<int>(closing)});
    return closing;
}

void write_some(Author origin, int target)
{
    origin.write(Call::put, target, 50);
    origin.write(Call::accumulate, target, 3);
    origin.add(target);
}

/// Whether somebody has died is not looked at each time.
void look_often(World& world, int rank)
{
    constexpr int often = 40;
    for (int look = 0; look < often; ++look) {
        world.rank(rank).process().progress();
    }
}

std::size_t late_target(Draft& d, int rank)
{
    Author target = d.rank(rank);
    target.compute(late * static_cast<Time>(rank));
    target.post({0});
    return target.wait(blocking);
}

} // namespace

INSTANTIATE_TEST_SUITE_P(Memory, OffersOnANode, testing::Bool(), [](const auto& carried) {
    return std::string(carried.param ? "Private" : "Mapped");
});

TEST(Offers, HoldAllProperties)
{
    constexpr std::uint64_t seeds = 30'000;
    const Outcome outcome = run_programs(0, seeds, true, draw_offers);
    ASSERT_TRUE(outcome.ok) << "seed " << outcome.failed << ": " << outcome.failure;
    std::printf("%" PRIu64 " seeds, %" PRIu64 " visits\n", outcome.seeds,
                outcome.statistics.visits);
    EXPECT_GT(outcome.statistics.visits, outcome.seeds);
}

/// Each target by itself, without any step of the origin.
TEST_P(OffersOnANode, ATargetThatWaitsNeedsNoStepOfItsOrigin)
{
    for (const int targets : {1, 3}) {
        Draft d = draft(targets + 1);
        std::vector<int> all;
        for (int rank = 1; rank <= targets; ++rank) {
            all.push_back(rank);
        }
        const std::size_t closing = compute_after_access(d, all);
        std::vector<std::size_t> waits{0};
        for (const int rank : all) {
            waits.push_back(late_target(d, rank));
        }
        run(d.finish(), [&](World& world) {
            for (const int rank : all) {
                const StepTimes& times =
                    world.rank(rank).times(waits[static_cast<std::size_t>(rank)]);
                EXPECT_LT(times.done, late * static_cast<Time>(rank) + 2'000);
            }
            EXPECT_GT(world.rank(0).times(closing).done, computing);
        });
    }
}

/// Between fences: by any of the others, to all targets, and where nothing is recorded, too.
TEST_P(OffersOnANode, AFenceNeedsNoStepOfAMemberThatComputes)
{
    for (const bool writes : {true, false}) {
        Draft d = draft(4);
        Author origin = d.rank(0);
        origin.fence(nonblocking);
        for (int target = 0; target < 4 && writes; ++target) {
            write_some(origin, target);
        }
        const std::size_t closing = origin.fence(nonblocking, {.no_succeed = true});
        origin.compute(computing);
        origin.wait_for({static_cast<int>(closing)});
        std::vector<std::size_t> ends{0};
        for (int rank = 1; rank < 4; ++rank) {
            Author other = d.rank(rank);
            other.compute(late * static_cast<Time>(rank));
            other.fence(blocking);
            ends.push_back(other.fence(blocking, {.no_succeed = true}));
        }
        const bool reached = !GetParam() || !writes; // memory that is not mapped is its owner's
        run(d.finish(), [&](World& world) {
            for (std::size_t rank = 1; rank < 4; ++rank) {
                const Time end = world.rank(static_cast<int>(rank)).times(ends[rank]).done;
                EXPECT_EQ(end < 3 * late + 2'000, reached) << rank << " at " << end;
            }
        });
    }
}

/// Whoever waits behind it, for the lock of the same member, which computes, too.
TEST_P(OffersOnANode, ALockNeedsNoStepOfItsOrigin)
{
    for (const rma::LockType type : {rma::LockType::shared, rma::LockType::exclusive}) {
        Draft d = draft(4);
        Author holder = d.rank(0);
        holder.lock(rma::LockType::exclusive, 3);
        holder.await_grant(3);
        holder.compute(late);
        holder.unlock(3, blocking);
        std::vector<int> unlocks{0, 0, 0};
        for (int rank = 1; rank < 3; ++rank) {
            Author origin = d.rank(rank);
            origin.compute(late / 4 * static_cast<Time>(rank));
            origin.lock(type, 3);
            write_some(origin, 3);
            unlocks[static_cast<std::size_t>(rank)] =
                static_cast<int>(origin.unlock(3, nonblocking));
            origin.compute(computing);
            origin.wait_for({unlocks[static_cast<std::size_t>(rank)]});
        }
        holder.compute(late);
        holder.lock(rma::LockType::exclusive, 3);
        const std::size_t granted = holder.await_grant(3);
        holder.unlock(3, blocking);
        d.rank(3).compute(computing);
        run(d.finish(), [&](World& world) {
            EXPECT_EQ(world.rank(0).times(granted).done < 3 * late, !GetParam());
        });
    }
}

/// Those who wait are on other nodes: the member itself performs it, whatever it waits for.
TEST(Offers, ALockNeedsNoStepOfItsOriginForRanksElsewhere)
{
    Draft d(4, 2);
    d.program().progress_percent = 0; // only blocking calls sweep
    Author target = d.rank(1);
    target.lock(rma::LockType::exclusive, 1);
    target.await_grant(1);
    target.compute(late);
    target.unlock(1, blocking);
    target.lock(rma::LockType::shared, 2); // until the rank elsewhere is done
    target.await_grant(2);
    target.unlock(2, blocking);
    Author origin = d.rank(0);
    origin.compute(late / 4);
    origin.lock(rma::LockType::exclusive, 1);
    write_some(origin, 1);
    const std::size_t unlock = origin.unlock(1, nonblocking);
    origin.compute(computing);
    origin.wait_for({static_cast<int>(unlock)});
    Author waiter = d.rank(2);
    waiter.lock(rma::LockType::exclusive, 2);
    waiter.await_grant(2);
    waiter.compute(late / 2);
    waiter.lock(rma::LockType::shared, 1);
    const std::size_t granted = waiter.await_grant(1);
    waiter.unlock(1, blocking);
    waiter.unlock(2, blocking);
    run(d.finish(), [&](World& world) { EXPECT_LT(world.rank(2).times(granted).done, 5 * late); });
}

/// Who performs a lock's operations dies in the middle: they are lost, and its place is left.
TEST(Offers, ALockIsLeftWhoeverDies)
{
    Draft d(3, 3);
    d.program().progress_percent = 0;
    Author holder = d.rank(1);
    holder.lock(rma::LockType::exclusive, 2);
    holder.await_grant(2);
    holder.compute(late);
    holder.unlock(2, blocking);
    Author origin = d.rank(0);
    origin.compute(10);
    origin.lock(rma::LockType::exclusive, 2);
    const std::size_t put = origin.write(Call::put, 2);
    const std::size_t closing = origin.unlock(2, nonblocking);
    origin.wait_for({static_cast<int>(closing)});
    World world(d.finish());
    world.network().kill(1, late / 2);
    static_cast<void>(world.run());
    std::atomic<std::uint64_t>& word = world.control(0, 2).offers(3, 0).offer;
    ASSERT_EQ(word & 3, static_cast<std::uint64_t>(rma::rules::OfferState::offered));
    word = word % 16 + 16 + 1; // taken by the one that was killed
    static_cast<void>(world.control(0, 2).lock.depart(rma::LockType::exclusive));
    while (world.rank(0).process().progress()) {
    }
    EXPECT_FALSE(world.rank(0).completed(closing));
    world.rank(0).process().lost(1);
    look_often(world, 0);
    EXPECT_TRUE(world.rank(0).completed(closing));
    EXPECT_EQ(world.rank(0).status(put), Status::lost);
    EXPECT_EQ(world.control(0, 2).lock.arrivals(), world.control(0, 2).lock.departures());
}

TEST_P(OffersOnANode, SoDoesOneThatTests)
{
    Draft d = draft(2);
    compute_after_access(d, {1});
    Author target = d.rank(1);
    target.compute(late);
    target.post({0});
    const std::size_t test = target.test();
    run(d.finish(), [&](World& world) { EXPECT_LT(world.rank(1).times(test).done, 2 * late); });
}

/// Where the target cannot reach the origin's memory, and where that fails in the middle, the
/// origin does it all by itself.
TEST_P(OffersOnANode, WhatFailsIsTheOriginsAgain)
{
    for (const bool fails : {false, true}) {
        Draft d = draft(2);
        d.program().unreadable = !fails;
        d.program().failing_visits = fails ? 100 : 0;
        compute_after_access(d, {1});
        const std::size_t wait = late_target(d, 1);
        run(d.finish(),
            [&](World& world) { EXPECT_GT(world.rank(1).times(wait).done, computing); });
    }
}

/// What has a result and an operand is not offered, nor is what another thread looks after.
TEST_P(OffersOnANode, OnlySimpleOnesOfProcessesWithoutAThreadAreOffered)
{
    for (const bool helped : {false, true}) {
        Draft d = draft(2);
        d.program().autonomous = helped;
        Author origin = d.rank(0);
        origin.start({1});
        origin.write(Call::put, 1);
        if (!helped) {
            origin.fetch_add(1);
        }
        origin.complete(nonblocking);
        origin.compute(computing);
        const std::size_t wait = late_target(d, 1);
        run(d.finish(), [&](World& world) {
            EXPECT_EQ(world.visits(), 0U);
            EXPECT_EQ(world.rank(1).times(wait).done > computing, !helped);
        });
    }
}

/// With A_A_A_R a later access may be offered while an earlier one is not. It waits for its turn.
TEST_P(OffersOnANode, AreTakenInTheOrderOfAccesses)
{
    Draft d = draft(2);
    d.program().reorder.assign(2, {.access_after_access = true, .exposure_after_exposure = true});
    Author origin = d.rank(0);
    origin.start({1});
    origin.fetch_add(1);
    origin.complete(nonblocking);
    origin.start({1});
    origin.write(Call::put, 1);
    origin.complete(nonblocking);
    origin.compute(computing);
    Author target = d.rank(1);
    target.compute(late);
    target.post({0});
    const std::size_t first = target.wait(nonblocking);
    target.post({0});
    const std::size_t second = target.wait(blocking);
    run(d.finish(), [&](World& world) {
        EXPECT_GT(world.rank(1).times(first).done, computing);
        EXPECT_GT(world.rank(1).times(second).done, computing);
    });
}

/// The origin dies, at whatever time: a target that is told that its exposure is over has all of
/// it.
TEST_P(OffersOnANode, AnExposureIsOverWithAllDataOrNotAtAll)
{
    int whole = 0;
    int kept = 0;
    for (Time death = 1; death < 3 * late; death += 7) {
        Draft d = draft(2);
        d.program().seed = death;
        Author origin = d.rank(0);
        origin.start({1});
        const std::size_t put = origin.write(Call::put, 1, 9);
        const std::size_t second = origin.write(Call::put, 1, 4);
        origin.complete(nonblocking);
        origin.compute(computing);
        const std::size_t wait = late_target(d, 1);
        World world(d.finish());
        world.network().kill(0, death);
        static_cast<void>(world.run()); // on a node nobody is told of a death
        bool all = true;
        for (const std::size_t number : {put, second}) {
            const Step& step = world.program().scripts[0][number];
            for (std::size_t word = 0; word < step.words; ++word) {
                all = all && world.memory(0, 1)[step.cell + word] == step.value + word;
            }
        }
        const bool over = world.rank(1).completed(wait) && world.rank(1).status(wait) == Status::ok;
        EXPECT_EQ(all, over) << death;
        whole += over ? 1 : 0;
        kept += over ? 0 : 1;
    }
    EXPECT_GT(whole, 0);
    EXPECT_GT(kept, 0);
}

/// The target dies when it has taken the offer: it is lost, and so are the operations.
TEST_P(OffersOnANode, WhatATargetHasTakenIsLostWithIt)
{
    Draft d = draft(2);
    Author origin = d.rank(0);
    origin.start({1});
    const std::size_t put = origin.write(Call::put, 1);
    const std::size_t closing = origin.complete(nonblocking);
    origin.wait_for({static_cast<int>(closing)});
    World world(d.finish());
    world.network().kill(1, 1);
    static_cast<void>(world.run());
    std::atomic<std::uint64_t>& word = world.control(0, 1).offers(2, 0).offer;
    ASSERT_EQ(word & 3, static_cast<std::uint64_t>(rma::rules::OfferState::offered));
    ++word; // taken
    world.control(0, 0).notices(1).granted = 1;
    while (world.rank(0).process().progress()) {
    }
    EXPECT_FALSE(world.rank(0).completed(closing));
    world.rank(0).process().lost(1);
    look_often(world, 0);
    EXPECT_TRUE(world.rank(0).completed(closing));
    EXPECT_EQ(world.rank(0).status(closing), Status::lost);
    EXPECT_EQ(world.rank(0).status(put), Status::lost);
}

} // namespace sidelight::sim
