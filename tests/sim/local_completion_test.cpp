// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "scenario.hpp"

/// What waits for the origin alone, and what sends nothing, over nodes: by hand. P3, 4.2 and 4.3.
namespace sidelight::sim {

namespace {

constexpr Time late = 50'000'000;   ///< a target computes so long, and sweeps no more
constexpr std::size_t small = 1;    ///< words
constexpr std::size_t large = 4096; ///< likewise; goes as a zero-copy message

/// How puts and gets travel.
struct Way {
    unsigned native_percent;
    bool dynamic;
};

constexpr Way ways[] = {{0, false}, {0, true}, {100, false}, {100, true}};

Draft draft(const Way& way, int ranks = 2)
{
    Draft draft(ranks, 1);
    draft.program().progress_percent = 0;
    draft.program().costs.native_percent = way.native_percent;
    draft.program().costs.full_percent = 0;
    draft.program().dynamic = way.dynamic;
    return draft;
}

/// Target 1 has been put to, and has no more to say; what is asked for has come.
Author warmed(Draft& d)
{
    Author origin = d.rank(0);
    origin.lock(LockType::shared, 1);
    for (int k = 0; k < 2; ++k) {
        origin.write(Call::put, 1);
        origin.flush(1, FlushScope::remote, blocking);
    }
    origin.meet();
    for (int rank = 1; rank < d.program().ranks; ++rank) {
        d.rank(rank).meet();
    }
    return origin;
}

/// Messages that rank 0 sends in a program of so many rounds.
std::uint64_t sends(const Way& way, int rounds, void (*round)(Author& origin, const Shown& shown))
{
    std::uint64_t sent = 0;
    Draft d = draft(way);
    d.program().costs.full_percent = 0;
    const Shown shown = d.rank(1).expose();
    Author origin = warmed(d);
    for (int k = 0; k < rounds; ++k) {
        round(origin, shown);
    }
    origin.unlock(1, blocking);
    run(d.finish(), [&](World& world) {
        EXPECT_TRUE(sent == 0 || sent == world.network().endpoint(0).sends());
        sent = world.network().endpoint(0).sends();
    });
    return sent;
}

} // namespace

/// Buffers are free, by flush_local and by the request, while the target computes; small and long
/// ones. At the target they are later.
TEST(LocalCompletion, NeedsNoTarget)
{
    for (const Way& way : ways) {
        for (const std::size_t words : {small, large}) {
            Draft d = draft(way);
            Author origin = warmed(d);
            const auto put = origin.write(Call::put, 1, words);
            const auto local = origin.flush(1, FlushScope::local, blocking);
            const auto next = origin.write(Call::put, 1, words);
            origin.wait_for({static_cast<int>(next)});
            const auto added = origin.write(Call::accumulate, 1, small);
            const auto last = origin.flush(1, FlushScope::local, blocking);
            const auto remote = origin.flush(1, FlushScope::remote, blocking);
            origin.unlock(1, blocking);
            d.rank(1).compute(late);
            run(d.finish(), [&](World& world) {
                for (const auto step : {put, local, next, added, last}) {
                    EXPECT_LT(world.rank(0).times(step).done, late);
                }
                EXPECT_GE(world.rank(0).times(remote).done, late); // the accumulate
            });
        }
    }
}

/// A request that waits for the target waits for its own operation, not for those behind it.
TEST(RemoteCompletion, NeedsNothingIssuedLater)
{
    Draft d(2, 1);
    d.program().progress_percent = 100;
    Author origin = d.rank(0);
    origin.lock(LockType::shared, 1);
    origin.await_grant(1);
    const auto first = origin.write(Call::put, 1, small);
    origin.make_remote();
    std::size_t last = first;
    for (int put = 0; put < 1000; ++put) {
        last = origin.write(Call::put, 1, small);
        origin.make_bare();
    }
    origin.unlock(1, blocking);
    run(d.finish(), [&](World& world) {
        EXPECT_LT(world.rank(0).times(first).done, world.rank(0).times(last).called);
    });
}

/// Puts by the network's hardware are at the target without its processor.
TEST(Flushes, OfNativePutsNeedNoTarget)
{
    for (const bool dynamic : {false, true}) {
        Draft d = draft({100, dynamic});
        Author origin = warmed(d);
        origin.write(Call::put, 1, small);
        origin.write(Call::put, 1, large);
        const auto flush = origin.flush(1, FlushScope::remote, blocking);
        origin.unlock(1, nonblocking);
        d.rank(1).compute(late);
        run(d.finish(), [&](World& world) { EXPECT_LT(world.rank(0).times(flush).done, late); });
    }
}

/// Nor do they send anything, nor does an access to a region that is known.
TEST(Flushes, OfNativePutsSendNothing)
{
    for (const bool dynamic : {false, true}) {
        const auto round = [](Author& origin, const Shown& /*shown*/) {
            origin.write(Call::put, 1);
            origin.flush(1, FlushScope::remote, blocking);
        };
        EXPECT_EQ(sends({100, dynamic}, 1, round), sends({100, dynamic}, 20, round));
    }
}

/// What has brought its data is complete, so a flush has nobody to ask.
TEST(Flushes, OfGetsSendNothing)
{
    for (const Way& way : ways) {
        const auto gets = [](Author& origin, const Shown& shown) {
            origin.get(1, shown);
            origin.wait_for({static_cast<int>(origin.length()) - 1});
            origin.fetch_add(1);
            origin.wait_for({static_cast<int>(origin.length()) - 1});
        };
        const auto flushed = [](Author& origin, const Shown& shown) {
            origin.get(1, shown);
            origin.flush(1, FlushScope::remote, blocking);
            origin.fetch_add(1);
            origin.flush(1, FlushScope::remote, blocking);
        };
        EXPECT_EQ(sends(way, 10, gets), sends(way, 10, flushed));
    }
}

/// Requests complete one by one: what a quick target has answered is there, whatever a busy one
/// still has to do.
TEST(Requests, CompleteOneByOne)
{
    for (const Way& way : {ways[0], ways[1]}) {
        Draft d = draft(way, 3);
        d.program().no_exclusive_locks = true; // so lock_all asks nobody
        const Shown shown = d.rank(1).expose(8);
        const Shown busy = d.rank(2).expose(8);
        Author origin = d.rank(0);
        origin.meet();
        origin.lock_all();
        const auto late_get = origin.get(2, busy);
        std::vector<std::size_t> gets;
        for (int block = 0; block < 5; ++block) { // get, and put what was computed
            gets.push_back(origin.get(1, shown));
            origin.wait_for({static_cast<int>(gets.back())});
            gets.push_back(origin.write(Call::put, 2, 8));
            origin.wait_for({static_cast<int>(gets.back())});
        }
        origin.unlock_all(blocking);
        d.rank(1).meet();
        d.rank(2).meet();
        d.rank(2).compute(late);
        run(d.finish(), [&](World& world) {
            for (const auto step : gets) {
                EXPECT_LT(world.rank(0).times(step).done, late);
            }
            EXPECT_GE(world.rank(0).times(late_get).done, late);
        });
    }
}

} // namespace sidelight::sim
