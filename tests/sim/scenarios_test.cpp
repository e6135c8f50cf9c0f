// SPDX-License-Identifier: BSD-3-Clause
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scenario.hpp"

/// Programs written by hand, each for one promise, over memory that is mapped, over messages, and
/// over both. The ledger checks safety in them as in all others; they add what must *happen*.
namespace sidelight::sim {

namespace {

rma::Reorder all_keys() { return {true, true, true, true}; }

} // namespace

INSTANTIATE_TEST_SUITE_P(Node, Scenarios, testing::Values(1, 2, 64),
                         [](const auto& node) { return "of" + std::to_string(node.param); });

/// P1, VI.A rule 3: the k-th access meets the k-th exposure, however far one side is ahead.
TEST_P(Scenarios, EpochsPendingFarAheadMatchInOrder)
{
    for (const bool origin_ahead : {true, false}) {
        constexpr int epochs = 60;
        Draft d = draft(2);
        std::vector<Shown> shown;
        d.rank(1).compute(origin_ahead ? 1'000'000 : 0);
        for (int epoch = 0; epoch < epochs; ++epoch) {
            shown.push_back(d.rank(1).expose());
            d.rank(1).post({0});
            d.rank(1).wait(origin_ahead ? blocking : nonblocking);
        }
        d.rank(0).compute(origin_ahead ? 0 : 1'000'000);
        for (int epoch = 0; epoch < epochs; ++epoch) {
            d.rank(0).start({1});
            d.rank(0).write(Call::put, 1);
            d.rank(0).get(1, shown[static_cast<std::size_t>(epoch)]);
            d.rank(0).complete(origin_ahead ? nonblocking : blocking);
        }
        run(d.finish(), [](World& world) {
            EXPECT_GE(world.ledger().statistics().far_ahead, static_cast<std::uint64_t>(epochs));
        });
    }
}

/// Without keys an epoch waits for the closed ones before it; with its key it overtakes.
TEST_P(Scenarios, KeysLetEpochsOvertake)
{
    // Rank 0 closes an epoch towards rank 1, which comes late, and opens one towards rank 2.
    for (int pair = 0; pair < 4; ++pair) {
        const bool access_first = pair < 2;
        const bool access_then = pair % 2 == 0;
        for (const bool key : {false, true}) {
            Draft d = draft(3);
            const Time late = 5'000'000;
            d.program().reorder.assign(3, {});
            rma::Reorder& keys = d.program().reorder[0];
            (access_first
                 ? (access_then ? keys.access_after_access : keys.exposure_after_access)
                 : (access_then ? keys.access_after_exposure : keys.exposure_after_exposure)) = key;
            Author a = d.rank(0);
            access_first ? a.start({1}) : a.post({1});
            if (access_first) {
                a.write(Call::put, 1);
            }
            const auto first = access_first ? a.complete(nonblocking) : a.wait(nonblocking);
            access_then ? a.start({2}) : a.post({2});
            if (access_then) {
                a.write(Call::put, 2);
            }
            const auto second = access_then ? a.complete(blocking) : a.wait(blocking);

            d.rank(1).compute(late);
            access_first ? d.rank(1).post({0}) : d.rank(1).start({0});
            access_first ? d.rank(1).wait(blocking) : d.rank(1).complete(blocking);
            access_then ? d.rank(2).post({0}) : d.rank(2).start({0});
            if (!access_then) {
                d.rank(2).write(Call::put, 0);
            }
            access_then ? d.rank(2).wait(blocking) : d.rank(2).complete(blocking);
            run(d.finish(), [&](World& world) {
                EXPECT_GT(world.rank(0).times(first).done, late);
                EXPECT_EQ(world.rank(0).times(second).done < late, key);
            });
        }
    }
}

/// An epoch has the keys that were set when it was opened, also if it is still deferred when others
/// are set.
TEST_P(Scenarios, KeysSetLaterAreForLaterEpochs)
{
    for (const bool in_time : {false, true}) {
        Draft d = draft(3);
        const Time late = 5'000'000;
        Author a = d.rank(0);
        a.start({1});
        a.write(Call::put, 1);
        a.complete(nonblocking);
        if (in_time) {
            a.set_keys(all_keys());
        }
        a.start({2});
        a.write(Call::put, 2);
        if (!in_time) {
            a.set_keys(all_keys());
        }
        const auto second = a.complete(blocking);
        d.rank(1).compute(late);
        d.rank(1).post({0});
        d.rank(1).wait(blocking);
        d.rank(2).post({0});
        d.rank(2).wait(blocking);
        run(d.finish(),
            [&](World& world) { EXPECT_EQ(world.rank(0).times(second).done < late, in_time); });
    }
}

/// P1, VI.B: fence and lock_all epochs overlap with nothing, whatever the keys say.
TEST_P(Scenarios, FenceAndLockAllExclude)
{
    for (const bool fence : {true, false}) {
        for (const bool exclusive_first : {true, false}) {
            Draft d = draft(3);
            const Time late = 5'000'000;
            d.program().reorder.assign(3, all_keys());
            for (int rank = 0; rank < 3; ++rank) {
                const auto exclusive = [&](Author a) {
                    if (!fence && rank == 0) {
                        a.lock_all();
                        a.write(Call::put, 1);
                        a.unlock_all(nonblocking);
                    } else if (fence) {
                        a.fence(nonblocking);
                        a.write(Call::put, (rank + 1) % 3);
                        a.fence(nonblocking, {.no_succeed = true});
                    }
                };
                Author a = d.rank(rank);
                if (!fence && exclusive_first && rank == 1) {
                    a.lock(LockType::exclusive, 1);
                    a.await_grant(1);
                }
                a.compute(rank == 1 ? late : 0);
                if (!fence && exclusive_first && rank == 1) {
                    a.unlock(1, blocking);
                }
                if (exclusive_first) {
                    exclusive(a);
                }
                if (rank == 0) {
                    a.start({1});
                    a.write(Call::put, 1);
                    a.complete(nonblocking);
                } else if (rank == 1) {
                    a.post({0});
                    a.wait(nonblocking);
                }
                if (!exclusive_first) {
                    exclusive(a);
                }
            }
            run(d.finish(), [&](World& world) {
                const auto& overlaps = world.ledger().statistics().overlaps;
                EXPECT_EQ(overlaps[0] + overlaps[1] + overlaps[2] + overlaps[3], 0U);
            });
        }
    }
}

/// First come, first served; readers next to each other together: R0 R1 W2 R3 W4.
TEST_P(Scenarios, LocksAreServedInOrderOfArrival)
{
    Draft d = draft(6);
    d.program().costs.jitter = 0;
    const Time hold = 1'000'000;
    const std::vector<LockType> types{LockType::shared, LockType::shared, LockType::exclusive,
                                      LockType::shared, LockType::exclusive};
    std::vector<std::size_t> granted;
    for (int rank = 0; rank < 5; ++rank) {
        Author a = d.rank(rank + 1);
        a.compute(static_cast<Time>(rank) * hold / 10);
        a.lock(types[static_cast<std::size_t>(rank)], 0);
        granted.push_back(a.await_grant(0));
        a.write(Call::put, 0);
        a.flush(0, FlushScope::remote, blocking);
        a.compute(hold);
        a.unlock(0, blocking);
    }
    d.program().autonomous = true;
    run(d.finish(), [&](World& world) {
        const auto time = [&](int rank) {
            return world.rank(rank + 1).times(granted[static_cast<std::size_t>(rank)]).done;
        };
        EXPECT_LT(time(1), hold);
        EXPECT_GT(time(2), time(1) + hold / 2);
        EXPECT_GT(time(3), time(2) + hold / 2);
        EXPECT_GT(time(4), time(3) + hold / 2);
        EXPECT_GT(world.ledger().statistics().readers_together, 0U);
    });
}

/// A writer is not starved by readers that come again and again.
TEST_P(Scenarios, WritersDoNotStarve)
{
    Draft d = draft(4);
    for (int rank = 0; rank < 3; ++rank) {
        for (int round = 0; round < 30; ++round) {
            d.rank(rank).lock(LockType::shared, 3);
            d.rank(rank).write(Call::put, 3);
            d.rank(rank).unlock(3, blocking);
        }
    }
    d.rank(3).compute(100);
    d.rank(3).lock(LockType::exclusive, 3);
    d.rank(3).write(Call::put, 3);
    const auto unlocked = d.rank(3).unlock(3, blocking);
    const auto last = d.rank(0).length() - 1;
    run(d.finish(), [&](World& world) {
        EXPECT_LT(world.rank(3).times(unlocked).done, world.rank(0).times(last).done / 2);
    });
}

/// Nobody waits in a circle: rank 0 holds all it has of lock_all while ranks 1 and 2 lock two
/// members each, one after the other.
TEST_P(Scenarios, LocksAreTakenInOrder)
{
    for (int round = 0; round < 3; ++round) {
        Draft d = draft(4);
        for (int rank = 0; rank < 4; ++rank) {
            Author a = d.rank(rank);
            for (int again = 0; again < 5; ++again) {
                if (rank == round) {
                    a.lock_all();
                    a.write(Call::put, again % 4);
                    a.flush(again % 4, FlushScope::remote, blocking);
                    a.unlock_all(blocking);
                    continue;
                }
                a.lock(LockType::exclusive, 1);
                a.lock(LockType::exclusive, 3);
                a.write(Call::put, 3);
                a.flush(3, FlushScope::remote, blocking);
                a.unlock(1, blocking);
                a.unlock(3, nonblocking);
            }
        }
        run(d.finish());
    }
}

/// P1, VII.C: a flush waits for the operations before it, and for no other.
TEST_P(Scenarios, FlushesHaveAges)
{
    Draft d = draft(2);
    d.program().costs.byte_ps = 1'000'000; // a word takes 8 us
    Author a = d.rank(0);
    a.lock(LockType::shared, 1);
    const auto early = a.write(Call::put, 1);
    const auto flush = a.flush(1, FlushScope::remote, nonblocking);
    a.write(Call::put, 1, 500);
    const auto late = a.flush(1, FlushScope::remote, nonblocking);
    const auto wait = a.wait_for({static_cast<int>(flush)});
    a.unlock(1, blocking);
    run(d.finish(), [&](World& world) {
        const Rank& rank = world.rank(0);
        EXPECT_LE(rank.times(early).done, rank.times(flush).done);
        EXPECT_LE(rank.times(flush).done, rank.times(late).done);
        if (GetParam() == 1) {
            EXPECT_LT(rank.times(flush).done + 1'000'000, rank.times(late).done);
            EXPECT_GT(world.ledger().statistics().flush_overtaken, 0U);
        }
        EXPECT_TRUE(rank.completed(wait - 1));
    });
}

/// What follows a flush does not join what it waits for.
TEST(Flushes, DoNotWaitForWhatFollows)
{
    Draft d(2, 1);
    d.program().autonomous = true; // messages are passed on while a rank computes
    const Time pause = 500;        // an answer takes some of them
    Author a = d.rank(0);
    a.lock(LockType::shared, 1);
    a.await_grant(1);
    a.write(Call::put, 1);
    const auto flush = a.flush(1, FlushScope::remote, nonblocking);
    const auto second = a.write(Call::put, 1);
    for (int i = 0; i < 50; ++i) {
        a.write(Call::put, 1);
        a.compute(pause);
    }
    a.unlock(1, blocking);
    run(d.finish(), [&](World& world) {
        EXPECT_LT(world.rank(0).times(flush).done, world.rank(0).times(second).called + 10 * pause);
    });
}

/// P2, 2.1: the flush of a thread waits for its operations, and for no others; the process's waits
/// for all.
TEST_P(Scenarios, FlushesOfThreads)
{
    for (const int target : {1, rma::all_targets}) {
        Draft d = draft(2);
        d.program().carried = true;
        d.program().costs.byte_ps = 1'000'000; // a word takes 8 us
        Author a = d.rank(0);
        a.lock(LockType::shared, 1);
        const auto mine = a.write(Call::put, 1);
        a.make_thread(1);
        const auto long_one = a.write(Call::put, 1, 500);
        a.make_thread(2);
        const auto flush = a.flush(target, FlushScope::remote, nonblocking);
        a.make_thread(1);
        const auto nothing = a.flush(target, FlushScope::remote, nonblocking);
        a.make_thread(3);
        const auto for_all = a.flush(target, FlushScope::remote, nonblocking);
        a.unlock(1, blocking);
        run(d.finish(), [&](World& world) {
            const Rank& rank = world.rank(0);
            EXPECT_LE(rank.times(mine).done, rank.times(flush).done);
            EXPECT_LT(rank.times(flush).done + 1'000'000, rank.times(for_all).done);
            EXPECT_LT(rank.times(nothing).done + 1'000'000, rank.times(for_all).done);
            EXPECT_LE(rank.times(long_one).done, rank.times(for_all).done);
        });
    }
}

/// A flush of all targets waits for the lock that is not granted, and completes what was written
/// under the one that is; on the direct path that lock has no epoch.
TEST_P(Scenarios, FlushAllBesideAWaitingLock)
{
    for (const bool direct : {false, true}) {
        Draft d = draft(3);
        d.program().direct = direct;
        d.program().autonomous = true;
        const Time late = 5'000'000;
        d.rank(2).lock(LockType::exclusive, 2);
        d.rank(2).await_grant(2);
        d.rank(2).meet();
        d.rank(2).compute(late);
        d.rank(2).unlock(2, blocking);
        d.rank(1).meet();
        Author a = d.rank(0);
        a.meet();
        a.lock(LockType::exclusive, 1);
        const auto put = a.write(Call::put, 1);
        a.lock(LockType::exclusive, 2);
        a.write(Call::put, 2);
        const auto flush = a.flush(rma::all_targets, FlushScope::remote, blocking);
        a.unlock(1, blocking);
        a.unlock(2, blocking);
        run(d.finish(), [&](World& world) {
            EXPECT_GT(world.rank(0).times(flush).done, late);
            EXPECT_LE(world.rank(0).times(put).done, world.rank(0).times(flush).done);
        });
    }
}

/// P1, VII.D: each target is told on its own that its part is done.
TEST_P(Scenarios, TargetsDoNotWaitForEachOther)
{
    Draft d = draft(3);
    const Time late = 5'000'000;
    d.rank(0).start({1, 2});
    d.rank(0).write(Call::put, 1);
    d.rank(0).write(Call::put, 2);
    d.rank(0).complete(blocking);
    d.rank(1).post({0});
    const auto over = d.rank(1).wait(blocking);
    d.rank(2).compute(late);
    d.rank(2).post({0});
    d.rank(2).wait(blocking);
    run(d.finish(), [&](World& world) { EXPECT_LT(world.rank(1).times(over).done, late); });
}

namespace {

void meet(Draft& draft, int ranks)
{
    for (int rank = 0; rank < ranks; ++rank) {
        draft.rank(rank).meet();
    }
}

} // namespace

/// A lock that waits for the one before it keeps no exposure from beginning: rank 1 gives its own
/// lock back when rank 3 has been in rank 0's memory.
TEST_P(Scenarios, ExposuresPassLocksThatWait)
{
    Draft d = draft(4);
    d.rank(1).lock(LockType::exclusive, 1);
    d.rank(1).await_grant(1);
    meet(d, 4);
    d.rank(0).lock(LockType::exclusive, 1);
    d.rank(0).lock(LockType::exclusive, 2);
    d.rank(0).post({3});
    d.rank(0).wait(blocking);
    d.rank(3).start({0});
    d.rank(3).write(Call::put, 0);
    d.rank(3).complete(blocking);
    meet(d, 4);
    d.rank(1).unlock(1, blocking);
    d.rank(0).unlock(2, blocking);
    d.rank(0).unlock(1, blocking);
    run(d.finish());
}

/// Also one that was deferred by a closed epoch, when that is complete: rank 0's first lock, before
/// rank 1 has its own.
TEST_P(Scenarios, DeferredExposuresPassLocksThatWait)
{
    Draft d = draft(4);
    d.rank(3).lock(LockType::exclusive, 1);
    d.rank(3).await_grant(1);
    meet(d, 4);
    d.rank(0).lock(LockType::exclusive, 1);
    d.rank(0).unlock(1, nonblocking);
    d.rank(0).lock(LockType::exclusive, 1);
    d.rank(0).lock(LockType::exclusive, 2);
    d.rank(0).post({2});
    d.rank(0).wait(blocking);
    d.rank(1).compute(1'000'000);
    d.rank(1).lock(LockType::shared, 2);
    d.rank(1).unlock(2, blocking); // meanwhile it hears of rank 0's
    d.rank(1).lock(LockType::exclusive, 1);
    d.rank(3).compute(2'000'000);
    d.rank(3).unlock(1, blocking);
    d.rank(1).await_grant(1);
    d.rank(2).start({0});
    d.rank(2).write(Call::put, 0);
    d.rank(2).complete(blocking);
    meet(d, 4);
    d.rank(1).unlock(1, blocking);
    d.rank(0).unlock(2, blocking);
    d.rank(0).unlock(1, blocking);
    run(d.finish());
}

/// MPI_Win_complete needs the grant and no more of its target, which may compute as long as it
/// likes.
TEST_P(Scenarios, CompleteDoesNotWaitForTheTarget)
{
    for (const std::size_t words : {1, 600, 3000}) {
        Draft d = draft(2);
        const Time late = 5'000'000;
        d.rank(0).start({1});
        d.rank(0).write(Call::put, 1, words);
        d.rank(0).write(Call::accumulate, 1);
        const auto complete = d.rank(0).complete(blocking);
        d.rank(1).post({0});
        d.rank(1).compute(late);
        const auto over = d.rank(1).wait(blocking);
        run(d.finish(), [&](World& world) {
            EXPECT_LT(world.rank(0).times(complete).done, late);
            EXPECT_GE(world.rank(1).times(over).done, late);
        });
    }
}

/// The lock passes on behind the operations, although its origin has stopped to listen.
TEST_P(Scenarios, UnlockDoesNotWaitForAnswers)
{
    for (const std::size_t words : {1, 600, 3000}) {
        Draft d = draft(3);
        const Time late = 5'000'000;
        d.rank(0).lock(LockType::exclusive, 1);
        d.rank(0).await_grant(1);
        d.rank(0).write(Call::put, 1, words);
        d.rank(0).unlock(1, nonblocking);
        d.rank(0).compute(late);
        d.rank(2).compute(late / 5);
        d.rank(2).lock(LockType::exclusive, 1);
        d.rank(2).write(Call::put, 1);
        const auto unlock = d.rank(2).unlock(1, blocking);
        run(d.finish(), [&](World& world) { EXPECT_LT(world.rank(2).times(unlock).done, late); });
    }
}

/// Where a copy is quick, but a message that leaves with others quicker, the first small operation
/// after each wait is copied.
TEST(Copies, AreForOperationsThatAreAlone)
{
    Draft d(2, 2);
    d.program().carried = true;
    d.program().copied = true;
    d.program().copied_from = 64;
    Author a = d.rank(0);
    a.lock(LockType::shared, 1);
    a.await_grant(1);
    a.write(Call::put, 1); // copied
    a.write(Call::put, 1);
    a.flush(1, FlushScope::local, blocking);
    a.write(Call::put, 1);
    a.flush(1, FlushScope::remote, blocking);
    a.write(Call::put, 1); // copied
    a.flush(rma::all_targets, FlushScope::remote, blocking);
    a.write(Call::put, 1); // copied
    a.write(Call::put, 1);
    a.unlock(1, blocking);
    a.lock(LockType::exclusive, 1);
    a.await_grant(1);
    a.write(Call::put, 1);    // copied
    a.write(Call::put, 1, 8); // as well: it is large
    a.unlock(1, blocking);
    for (int i = 0; i < 3; ++i) { // without an epoch of its own, as nothing is recorded
        a.lock(LockType::shared, 1);
        a.write(Call::put, 1); // copied
        a.unlock(1, blocking);
    }
    run(d.finish(), [](World& world) { EXPECT_EQ(world.copies(), 8); });
}

TEST(Copies, AreForTheFirstOperationAfterAFence)
{
    Draft d(2, 2);
    d.program().carried = true;
    d.program().copied = true;
    d.program().copied_from = 64;
    const int fences = 4;
    for (int rank = 0; rank < 2; ++rank) {
        Author a = d.rank(rank);
        for (int i = 0; i < fences; ++i) {
            a.fence(blocking);
            if (rank == 0) {
                a.write(Call::put, 1); // copied
                a.compute(1'000'000);  // it comes last, and its fence goes on as the next
            }
        }
        a.fence(blocking, {.no_succeed = true});
    }
    run(d.finish(), [=](World& world) { EXPECT_EQ(world.copies(), fences); });
}

/// How often messages had left when the first put was made, which is to the same node. A second
/// one goes to another node. Both are granted while the process, which has closed its epoch,
/// computes.
std::uint64_t batches_before_copy(bool fences, int puts = 1)
{
    Draft d(3, 2);
    d.program().carried = true;
    d.program().dynamic = !fences; // else the puts are offered to who grants them
    d.program().copied = true;
    d.program().copied_from = 64;
    d.program().progress_percent = 0;
    d.program().costs.full_percent = 0;
    const auto put_to_other_node = [&](int rank) {
        for (int i = 0; i < (rank == 0 ? puts : 0); ++i) {
            d.rank(0).write(Call::put, 2);
        }
    };
    for (int rank = 0; rank < 3; ++rank) {
        Author a = d.rank(rank);
        if (fences) { // one like it, behind which several puts are expected
            a.fence(blocking);
            put_to_other_node(rank);
            a.fence(blocking, {.no_succeed = true});
        }
        if (rank != 0) {
            a.compute(100'000);
            fences ? a.fence(blocking) : a.post({0});
            fences ? a.fence(blocking, {.no_succeed = true}) : a.wait(blocking);
        }
    }
    Author a = d.rank(0);
    fences ? a.fence(nonblocking) : a.start({1, 2});
    a.write(Call::put, 1, 8);
    put_to_other_node(0);
    const std::size_t closed =
        fences ? a.fence(nonblocking, {.no_succeed = true}) : a.complete(nonblocking);
    a.compute(1'000'000);
    a.wait_for({static_cast<int>(closed)});
    std::uint64_t batches = 0;
    run(d.finish(), [&](World& world) {
        EXPECT_GE(world.copies(), 1);
        batches = world.batches_before_copies();
    });
    return batches;
}

/// P1, VII.D: what goes to other nodes leaves before anything is copied inside the node.
TEST(Sweep, TransfersBetweenNodesComeFirst)
{
    EXPECT_EQ(batches_before_copy(false), 2); // one of them before the epoch
    EXPECT_EQ(batches_before_copy(true), 2);
    EXPECT_EQ(batches_before_copy(true, 3), 3);
}

/// How often messages of the origin of a start epoch leave, all told.
std::uint64_t batches_of_start_epoch(const std::function<void(Author&)>& operations)
{
    Draft d(2, 1);
    d.program().costs.full_percent = 0;
    d.program().progress_percent = 0;
    d.rank(1).post({0});
    d.rank(1).wait(blocking);
    Author a = d.rank(0);
    a.start({1});
    a.await_grant(1);
    operations(a);
    a.complete(blocking);
    std::uint64_t batches = 0;
    run(d.finish(), [&](World& world) { batches = world.network().endpoint(0).batches(); });
    return batches;
}

/// They say nothing before the word that ends the epoch, so an earlier batch would be in vain. What
/// brings data back leaves at once, and so does the 1,024th. Freeing the window takes a batch more
/// if there were operations, to ask for their end.
TEST(Batches, OfAStartEpochLeaveTogether)
{
    const auto puts = [](int count) {
        return [count](Author& a) {
            for (int i = 0; i < count; ++i) {
                a.write(Call::put, 1);
            }
        };
    };
    const std::uint64_t none = batches_of_start_epoch(puts(0));
    EXPECT_EQ(batches_of_start_epoch(puts(1)), none + 1);
    EXPECT_EQ(batches_of_start_epoch(puts(1020)), none + 1);
    EXPECT_EQ(batches_of_start_epoch(puts(1030)), none + 2);
    EXPECT_EQ(batches_of_start_epoch(puts(4000)), none + 4);
    EXPECT_EQ(batches_of_start_epoch([](Author& a) { a.add(1); }), none + 1);
    EXPECT_EQ(batches_of_start_epoch([](Author& a) { a.fetch_add(1); }), none + 1);
}

/// All messages of a lock with one accumulate and a flush.
std::uint64_t messages_of_accumulate(std::size_t words)
{
    Draft d(2, 1);
    Author a = d.rank(0);
    a.lock(rma::LockType::exclusive, 1);
    a.write(Call::accumulate, 1, words);
    a.flush(1, rma::FlushScope::remote, blocking);
    a.unlock(1, blocking);
    std::uint64_t messages = 0;
    run(d.finish(), [&](World& world) { messages = world.network().messages(); });
    return messages;
}

/// A flush has no need to ask for it, however many fragments it has: 992 words are one.
TEST(Credit, TheLastFragmentOfAnOperationAsks)
{
    const std::uint64_t one = messages_of_accumulate(10);
    EXPECT_EQ(messages_of_accumulate(1500), one + 1);
    EXPECT_EQ(messages_of_accumulate(2500), one + 2);
}

/// More than may be in flight, towards a target that is late: of small ones, of others, and of
/// others behind small ones, which have less room than is taken already.
TEST(Credit, WhatIsMoreWaits)
{
    for (const std::size_t first : {std::size_t{1}, std::size_t{100}}) {
        for (const std::size_t then : {std::size_t{1}, std::size_t{100}}) {
            Draft d(2, 1);
            d.rank(1).compute(5'000'000);
            Author a = d.rank(0);
            a.lock(rma::LockType::exclusive, 1);
            const int before = first == 1 ? 4200 : 600;
            for (int i = 0; i < before + 600; ++i) {
                a.write(Call::put, 1, i < before ? first : then);
            }
            a.unlock(1, blocking);
            run(d.finish());
        }
    }
}

/// Operations with answers of their own, which ask for no acknowledgement, behind more small puts
/// than may be in flight beside them: who waits for the request of one does not flush.
TEST(Credit, AnswersAreNotWaitedForInVain)
{
    for (const int puts : {400, 900, 2000}) {
        for (const std::size_t words : {std::size_t{100}, std::size_t{4096}}) {
            Draft d(2, 1);
            d.program().progress_percent = 0;
            const Shown shown = d.rank(1).expose(words);
            Author a = d.rank(0);
            a.meet();
            d.rank(1).meet();
            a.lock(rma::LockType::shared, 1);
            for (int i = 0; i < puts; ++i) {
                a.write(Call::put, 1);
                a.make_bare();
            }
            for (int i = 0; i < 2; ++i) {
                a.wait_for({static_cast<int>(a.get(1, shown))});
                a.wait_for({static_cast<int>(a.write(Call::put, 1, words))});
            }
            a.unlock(1, blocking);
            run(d.finish());
        }
    }
}

/// The last piece has an answer of its own; nobody but the request waits for the one before it.
TEST(Credit, EachPieceOfARequestIsAskedFor)
{
    Draft d(2, 1);
    d.program().progress_percent = 0;
    Author a = d.rank(0);
    a.lock(rma::LockType::exclusive, 1);
    const auto put = a.write(Call::put, 1, 2000, Spread::first_apart);
    a.make_remote();
    a.wait_for({static_cast<int>(put)});
    a.unlock(1, blocking);
    run(d.finish());
}

/// Of a program of two ranks.
std::uint64_t batches_of_both(Draft& draft)
{
    std::uint64_t batches = 0;
    run(draft.finish(), [&](World& world) {
        batches = world.network().endpoint(0).batches() + world.network().endpoint(1).batches();
    });
    return batches;
}

/// Each way two messages: the grant, and the put with the word that ends its epoch. Nobody asks for
/// the put of the epoch before, of which the program needs nothing.
TEST(Batches, OfStartEpochsInTurn)
{
    const auto batches_of = [](int turns) {
        Draft d(2, 1);
        d.program().costs.full_percent = 0;
        for (int turn = 0; turn < turns; ++turn) {
            Author target = d.rank(turn % 2);
            target.post({1 - turn % 2});
            target.wait(blocking);
            Author origin = d.rank(1 - turn % 2);
            origin.start({turn % 2});
            origin.write(Call::put, turn % 2);
            origin.complete(blocking);
        }
        return batches_of_both(d);
    };
    EXPECT_EQ(batches_of(12), batches_of(2) + 20);
}

/// There and back two batches: nobody asks for a put that tells its target that it is there.
TEST(Batches, OfNotifiedPutsThereAndBack)
{
    const auto batches_of = [](std::uint64_t turns) {
        Draft d(2, 1);
        d.program().counters = 1;
        d.program().costs.full_percent = 0;
        d.program().progress_percent = 0;
        for (int rank = 0; rank < 2; ++rank) {
            Author a = d.rank(rank);
            a.lock(LockType::shared, 1 - rank);
            a.await_grant(1 - rank);
            for (std::uint64_t turn = 1; turn <= turns; ++turn) {
                if (rank == 1) {
                    a.await_notification(0, turn, blocking);
                }
                const std::size_t put = a.write(Call::put, 1 - rank);
                a.make_bare();
                a.make_notified(put, 0);
                if (rank == 0) {
                    a.await_notification(0, turn, blocking);
                }
            }
            a.unlock(1 - rank, blocking);
        }
        return batches_of_both(d);
    };
    EXPECT_EQ(batches_of(30), batches_of(10) + 40);
}

/// A member that closes the window early still hears of what others notify before they do.
TEST_P(Scenarios, AThresholdIsReachedWhileTheWindowIsClosed)
{
    Draft d = draft(3);
    d.program().counters = 1;
    const auto reached = d.rank(1).await_notification(0, 1, nonblocking);
    Author a = d.rank(0);
    a.compute(1'000'000);
    a.lock(LockType::shared, 1);
    const auto put = a.write(Call::put, 1);
    a.make_notified(put, 0);
    a.unlock(1, blocking);
    run(d.finish(), [&](World& world) { EXPECT_EQ(world.rank(1).status(reached), Status::ok); });
}

/// What it leaves unanswered holds nothing back: the get behind it is over while its caller
/// computes.
TEST(Batches, AGetBehindANotifiedPutLeavesAtOnce)
{
    const auto time_of = [](std::uint64_t computing) {
        Draft d(2, 1);
        d.program().counters = 1;
        d.program().progress_percent = 0;
        const Shown shown = d.rank(1).expose(1);
        Author a = d.rank(0);
        a.meet();
        d.rank(1).meet();
        a.lock(LockType::shared, 1);
        a.await_grant(1);
        const std::size_t put = a.write(Call::put, 1);
        a.make_bare();
        a.make_notified(put, 0);
        a.compute(100'000);
        const auto get = a.get(1, shown);
        a.compute(computing);
        a.wait_for({static_cast<int>(get)});
        a.unlock(1, blocking);
        std::uint64_t time = 0;
        run(d.finish(), [&](World& world) { time = world.network().now(); });
        return time;
    };
    constexpr std::uint64_t long_enough = 100'000'000;
    constexpr std::uint64_t latency = 1000; // of the network, there and back twice that
    EXPECT_LT(time_of(long_enough) + latency, time_of(0) + long_enough);
}

/// All batches of a lock epoch that is granted.
std::uint64_t batches_of_lock(const std::function<void(Author&)>& operations)
{
    Draft d(2, 1);
    d.program().costs.full_percent = 0;
    d.program().progress_percent = 0;
    Author a = d.rank(0);
    a.lock(LockType::shared, 1);
    a.await_grant(1);
    operations(a);
    a.unlock(1, blocking);
    std::uint64_t batches = 0;
    run(d.finish(), [&](World& world) { batches = world.network().endpoint(0).batches(); });
    return batches;
}

void put_rows(Author& a, int rows, int puts)
{
    for (int row = 0; row < rows; ++row) {
        for (int i = 0; i < puts; ++i) {
            a.write(Call::put, 1);
        }
        a.flush(1, FlushScope::remote, blocking);
    }
}

/// Nobody knows at the first put of the first row that others follow.
TEST(Batches, OfRowsOfPutsLeaveTogether)
{
    const auto batches_of = [](int rows, int puts) {
        return batches_of_lock([&](Author& a) { put_rows(a, rows, puts); });
    };
    EXPECT_EQ(batches_of(3, 1), batches_of(2, 1) + 1);
    EXPECT_EQ(batches_of(1, 50), batches_of(1, 1) + 1);
    EXPECT_EQ(batches_of(3, 50), batches_of(2, 50) + 1);
}

/// What is held back after rows of puts leaves with a nonblocking flush, though the program then
/// computes: else it would leave with the unlock.
TEST(Batches, OfRowsLeaveWithNonblockingCalls)
{
    const auto batches_of = [](bool flushes) {
        return batches_of_lock([&](Author& a) {
            put_rows(a, 2, 2);
            a.write(Call::put, 1);
            if (flushes) {
                a.flush(1, FlushScope::remote, nonblocking);
            }
            a.compute(5'000'000);
        });
    };
    EXPECT_EQ(batches_of(true), batches_of(false) + 1);
}

/// A fence is a barrier, whichever mix of forms is used; a nonblocking one does not keep the
/// caller.
TEST_P(Scenarios, FencesAreBarriers)
{
    for (int blocks = 0; blocks < 8; ++blocks) {
        Draft d = draft(3);
        d.program().autonomous = true; // messages are passed on while a rank computes
        const Time late = 5'000'000;
        std::vector<std::size_t> second;
        for (int rank = 0; rank < 3; ++rank) {
            const Mode mode = (blocks >> rank & 1) != 0 ? blocking : nonblocking;
            Author a = d.rank(rank);
            a.fence(mode);
            a.write(Call::put, (rank + 1) % 3);
            a.compute(rank == 2 ? late : 0);
            second.push_back(a.fence(mode));
        }
        run(d.finish(), [&](World& world) {
            for (int rank = 0; rank < 3; ++rank) {
                const auto& times = world.rank(rank).times(second[static_cast<std::size_t>(rank)]);
                EXPECT_GT(times.done, late);
                EXPECT_TRUE(rank == 2 || times.called < late);
            }
        });
    }
}

} // namespace sidelight::sim
