// SPDX-License-Identifier: BSD-3-Clause
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include "active_job.hpp"

/// Active messages: random programs against what must hold of every run. SIDELIGHT_SIM_ACTIVE_SEED
/// in the environment runs one seed, SIDELIGHT_SIM_ACTIVE_SEEDS says how many.
namespace sidelight::sim {

namespace {

std::uint64_t number(const char* variable, std::uint64_t fallback)
{
    const char* text = std::getenv(variable);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : fallback;
}

/// In fewer programs not all that is counted need happen.
constexpr std::uint64_t enough = 10'000;

ActiveTally run_all(ActiveDeaths deaths)
{
    const std::uint64_t first = number("SIDELIGHT_SIM_ACTIVE_SEED", 0);
    const std::uint64_t seeds = first != 0 ? 1 : number("SIDELIGHT_SIM_ACTIVE_SEEDS", 2 * enough);
    ActiveTally tally;
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        const std::string failure = run_active(seed, deaths, tally);
        EXPECT_EQ(failure, "") << "SIDELIGHT_SIM_ACTIVE_SEED=" << seed;
        if (!failure.empty()) {
            break;
        }
    }
    std::printf("%" PRIu64 " seeds: %" PRIu64 " messages in %" PRIu64 " pieces, %" PRIu64
                " beside others, %" PRIu64 " before earlier ones, %" PRIu64 " refused, %" PRIu64
                " within their calls, in which %" PRIu64 " died, %" PRIu64
                " waited for by request\n",
                tally.programs, tally.messages, tally.pieces, tally.beside, tally.overtaken,
                tally.failures, tally.direct, tally.died_inside, tally.requested);
    return tally;
}

} // namespace

TEST(ActiveMessages, RunOnceEachInTheirOrder)
{
    const ActiveTally tally = run_all(ActiveDeaths::none);
    if (tally.programs < enough) {
        return;
    }
    EXPECT_GT(tally.pieces, tally.messages);
    EXPECT_GT(tally.beside, 0U);
    EXPECT_GT(tally.overtaken, 0U);
    EXPECT_GT(tally.failures, 0U);
    EXPECT_GT(tally.direct, 0U);
    EXPECT_GT(tally.left, 0U);
    EXPECT_GT(tally.requested, 0U);
}

TEST(ActiveMessages, SurvivorsComeToTheirEnds)
{
    const ActiveTally tally = run_all(ActiveDeaths::one);
    EXPECT_TRUE(tally.died_inside > 0 || tally.programs < enough);
}

} // namespace sidelight::sim
