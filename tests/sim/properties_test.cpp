// SPDX-License-Identifier: BSD-3-Clause
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include "seeds.hpp"
#include "world.hpp"

/// The properties of P1 and MPI over many random programs, in shards that can run side by side. In
/// the environment: SIDELIGHT_SIM_SEED replays one seed and prints its trace, SIDELIGHT_SIM_SEEDS
/// says how many are tried in all.
namespace sidelight::sim {

namespace {

constexpr int shards = 8;
constexpr std::uint64_t default_seeds = 200'000; ///< in all shards
/// Seeds of different shards never meet, however many are tried.
constexpr std::uint64_t shard_distance = 1'000'000'000;
/// So many seeds show all that there is to be seen.
constexpr std::uint64_t enough_seeds = 2'000;

const char* environment(const char* name) { return std::getenv(name); }

class Properties : public testing::TestWithParam<int> {};

void print(const Outcome& outcome)
{
    const Statistics& seen = outcome.statistics;
    std::printf("%" PRIu64 " seeds, %" PRIu64 " operations, %" PRIu64 " messages, %" PRIu64
                " accesses by cards, %" PRIu64 " events, up to %" PRIu64 " epochs pending\n",
                outcome.seeds, seen.operations, seen.messages, seen.accesses, seen.events,
                seen.far_ahead);
    std::printf("%" PRIu64 " calls of ranks that compute, %" PRIu64 " of them for nothing\n",
                seen.calls, seen.futile_calls);
    std::printf("overlaps by key %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                ", readers together %" PRIu64 ", done early %" PRIu64 ", flushes overtaken %" PRIu64
                "\n",
                seen.overlaps[0], seen.overlaps[1], seen.overlaps[2], seen.overlaps[3],
                seen.readers_together, seen.done_early, seen.flush_overtaken);
}

} // namespace

TEST_P(Properties, Hold)
{
    if (environment("SIDELIGHT_SIM_SEED") != nullptr) {
        GTEST_SKIP() << "one seed is replayed";
    }
    const char* wanted = environment("SIDELIGHT_SIM_SEEDS");
    const std::uint64_t seeds =
        wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : default_seeds;
    const Outcome outcome =
        run_seeds(static_cast<std::uint64_t>(GetParam()) * shard_distance, seeds / shards);
    ASSERT_TRUE(outcome.ok) << "seed " << outcome.failed << ": " << outcome.failure;
    print(outcome);
    if (outcome.seeds >= enough_seeds) {
        const Statistics& seen = outcome.statistics;
        for (const std::uint64_t overlaps : seen.overlaps) {
            EXPECT_GT(overlaps, 0U);
        }
        EXPECT_GT(seen.readers_together, 0U);
        EXPECT_GT(seen.calls, outcome.seeds / 10);
        EXPECT_LE(seen.futile_calls * 100, seen.calls);
        EXPECT_GT(seen.done_early, 0U);
        EXPECT_GT(seen.flush_overtaken, 0U);
        EXPECT_GT(seen.accesses, seen.operations / 100);
        EXPECT_GT(seen.strays, 0U);
        EXPECT_GT(seen.notified, outcome.seeds / 10);
        EXPECT_GT(seen.far_ahead, 5U);
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Properties, testing::Range(0, shards));

TEST(Replay, OneSeed)
{
    const char* wanted = environment("SIDELIGHT_SIM_SEED");
    if (wanted == nullptr) {
        GTEST_SKIP() << "no SIDELIGHT_SIM_SEED";
    }
    const std::uint64_t seed = std::strtoull(wanted, nullptr, 10);
    World world(draw_program(seed, taste_of(seed)));
    const bool ok = world.run();
    world.report(stdout);
    EXPECT_TRUE(ok) << world.failure();
}

TEST(Replay, IsTheSameRun)
{
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        World first(draw_program(seed, taste_of(seed)));
        World second(draw_program(seed, taste_of(seed)));
        ASSERT_TRUE(first.run()) << first.failure();
        ASSERT_TRUE(second.run()) << second.failure();
        EXPECT_EQ(first.network().trace().digest(), second.network().trace().digest());
        EXPECT_EQ(first.network().now(), second.network().now());
    }
}

} // namespace sidelight::sim
