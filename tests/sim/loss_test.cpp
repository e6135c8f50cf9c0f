// SPDX-License-Identifier: BSD-3-Clause
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

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

} // namespace sidelight::sim
