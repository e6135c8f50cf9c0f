// SPDX-License-Identifier: BSD-3-Clause
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "rma/active/rules.hpp"
#include "sim/active_job.hpp"

/// The tests of the tests, as in wrong_rules_test.cpp, for the rules of active messages.
namespace sidelight::sim {

namespace {

using rma::rules::WrongActive;

struct WrongActiveCase {
    const char* name;
    WrongActive wrong;
    const char* property; ///< a part of what is said
    ActiveDeaths deaths = ActiveDeaths::none;
};

void PrintTo(const WrongActiveCase& tried, std::ostream* out) { *out << tried.name; }

class WrongActiveRule : public testing::TestWithParam<WrongActiveCase> {
protected:
    void TearDown() override { rma::rules::wrong_active = WrongActive::none; }
};

} // namespace

TEST_P(WrongActiveRule, IsCaught)
{
    constexpr std::uint64_t seeds = 5'000;
    rma::rules::wrong_active = GetParam().wrong;
    ActiveTally tally;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        const std::string failure = run_active(seed, GetParam().deaths, tally);
        if (failure.find(GetParam().property) != std::string::npos) {
            std::printf("%s: seed %" PRIu64 ": %s\n", GetParam().name, seed, failure.c_str());
            return;
        }
    }
    FAIL() << "none of " << seeds << " seeds failed because \"" << GetParam().property << "\"";
}

INSTANTIATE_TEST_SUITE_P(
    TestsOfTheTests, WrongActiveRule,
    testing::Values(
        WrongActiveCase{"order_forgotten", WrongActive::order_forgotten, "has overtaken one"},
        WrongActiveCase{"passes_ordered", WrongActive::passes_ordered, "has overtaken one"},
        WrongActiveCase{"all_share", WrongActive::all_share, "interleave"},
        WrongActiveCase{"leaves_beside", WrongActive::leaves_beside, "never ends"},
        WrongActiveCase{"served_early", WrongActive::served_early, "came earlier"},
        WrongActiveCase{"unanswered", WrongActive::unanswered, "a lock was given away"},
        WrongActiveCase{"slivers", WrongActive::slivers, "a sliver"},
        WrongActiveCase{"begins_at_once", WrongActive::begins_at_once, "deadlock"},
        WrongActiveCase{"passes_waiting", WrongActive::passes_waiting, "has overtaken one"},
        WrongActiveCase{"all_enter", WrongActive::all_enter, "entered as one that shares"},
        WrongActiveCase{"kept_by_dead", WrongActive::kept_by_dead, "never ends",
                        ActiveDeaths::one}),
    [](const auto& tried) { return std::string(tried.param.name); });

/// What is then used twice is an object of the engine's: any end but a good one will do.
TEST(WrongActiveRoom, IsCaught)
{
    const auto run_all = [] {
        rma::rules::wrong_active = WrongActive::room_taken;
        ActiveTally tally;
        for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
            if (!run_active(seed, ActiveDeaths::one, tally).empty()) {
                std::abort();
            }
        }
    };
    EXPECT_DEATH(run_all(), "");
}

} // namespace sidelight::sim
