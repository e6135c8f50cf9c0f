// SPDX-License-Identifier: BSD-3-Clause
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include "seeds.hpp"
#include "world.hpp"

/// The properties of P1 and MPI over many random programs. In the environment: SIDELIGHT_SEED
/// replays one seed and prints its trace, SIDELIGHT_SEEDS says how many are tried.
namespace sidelight::sim {

namespace {

constexpr std::uint64_t default_seeds = 100'000;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise)
{
    const char* text = std::getenv(name);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

} // namespace

TEST(Properties, HoldOverAllSeeds)
{
    if (std::getenv("SIDELIGHT_SEED") != nullptr) {
        GTEST_SKIP() << "one seed is replayed";
    }
    const Outcome outcome = run_seeds(0, from_environment("SIDELIGHT_SEEDS", default_seeds));
    ASSERT_TRUE(outcome.ok) << "seed " << outcome.failed << ": " << outcome.failure;
    const Statistics& seen = outcome.statistics;
    std::printf("%" PRIu64 " seeds, %" PRIu64 " operations, %" PRIu64 " messages, %" PRIu64
                " events, up to %" PRIu64 " epochs pending\n",
                outcome.seeds, seen.operations, seen.messages, seen.events, seen.far_ahead);
    std::printf("overlaps by key %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                ", readers together %" PRIu64 ", done early %" PRIu64 ", flushes overtaken %" PRIu64
                "\n",
                seen.overlaps[0], seen.overlaps[1], seen.overlaps[2], seen.overlaps[3],
                seen.readers_together, seen.done_early, seen.flush_overtaken);
    if (outcome.seeds >= 1000) {
        for (const std::uint64_t overlaps : seen.overlaps) {
            EXPECT_GT(overlaps, 0U);
        }
        EXPECT_GT(seen.readers_together, 0U);
        EXPECT_GT(seen.done_early, 0U);
        EXPECT_GT(seen.flush_overtaken, 0U);
        EXPECT_GT(seen.far_ahead, 5U);
    }
}

TEST(Properties, ReplayOneSeed)
{
    if (std::getenv("SIDELIGHT_SEED") == nullptr) {
        GTEST_SKIP() << "no SIDELIGHT_SEED";
    }
    const std::uint64_t seed = from_environment("SIDELIGHT_SEED", 0);
    World world(draw_program(seed, taste_of(seed)));
    const bool ok = world.run();
    world.report(stdout);
    EXPECT_TRUE(ok) << world.failure();
}

TEST(Properties, SeedDecidesTheRun)
{
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        World first(draw_program(seed));
        World second(draw_program(seed));
        ASSERT_TRUE(first.run()) << first.failure();
        ASSERT_TRUE(second.run()) << second.failure();
        EXPECT_EQ(first.network().trace().digest(), second.network().trace().digest());
        EXPECT_EQ(first.network().now(), second.network().now());
    }
}

} // namespace sidelight::sim
