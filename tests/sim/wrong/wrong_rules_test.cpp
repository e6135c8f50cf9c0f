// SPDX-License-Identifier: BSD-3-Clause
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>

#include <sys/wait.h>

#include <gtest/gtest.h>

#include "rma/rules.hpp"
#include "sim/draft.hpp"
#include "sim/early_return.hpp"
#include "sim/generator.hpp"
#include "sim/handles.hpp"
#include "sim/offers.hpp"
#include "sim/renewals.hpp"
#include "sim/seeds.hpp"
#include "sim/survivors.hpp"
#include "sim/world.hpp"

/// The tests of the tests: with a rule of the engine made wrong, the properties must find a seed
/// that says so, among few. What they say is part of the test: each rule has properties of its own.
namespace sidelight::sim {

namespace {

using rma::rules::Wrong;

constexpr std::uint64_t seeds = 20'000;
constexpr std::size_t nowhere = std::string::npos;

struct Case {
    const char* name;
    Wrong wrong;
    const char* property; ///< a part of what the properties say
};

void PrintTo(const Case& tried, std::ostream* out) { *out << tried.name; }

class WrongRule : public testing::TestWithParam<Case> {
protected:
    void TearDown() override { rma::rules::wrong = Wrong::none; }
};

} // namespace

/// Other properties may be the first to notice: the one that is named has to, sooner or later.
TEST_P(WrongRule, IsCaught)
{
    rma::rules::wrong = GetParam().wrong;
    std::uint64_t next = 0;
    std::uint64_t caught = 0;
    while (next < seeds) {
        const Outcome outcome = run_seeds(next, seeds - next, false);
        if (outcome.ok) {
            break;
        }
        ++caught;
        if (outcome.failure.find(GetParam().property) != std::string::npos) {
            std::printf("%s: seed %" PRIu64 ", the %" PRIu64 ". that caught it: %s\n",
                        GetParam().name, outcome.failed, caught, outcome.failure.c_str());
            return;
        }
        next = outcome.failed + 1;
    }
    FAIL() << caught << " of " << seeds << " seeds failed, none because \"" << GetParam().property
           << "\"";
}

/// Too rare among seeds: an access that nobody waits for, and behind it a lock that asks nobody.
TEST(WrongRules, JoiningAnotherEpochIsCaught)
{
    Draft d(2, 1);
    d.program().progress_percent = 0;
    Author origin = d.rank(0);
    origin.start({1});
    origin.write(Call::put, 1);
    origin.complete(Mode::blocking);
    origin.lock(rma::LockType::shared, 1, {.no_check = true});
    origin.write(Call::put, 1);
    origin.flush(1, rma::FlushScope::remote, Mode::blocking);
    origin.unlock(1, Mode::blocking);
    d.rank(1).post({0});
    d.rank(1).compute(1'000'000);
    d.rank(1).wait(Mode::blocking);
    const Program program = d.finish();
    std::string failure;
    for (const Wrong wrong : {Wrong::none, Wrong::joins_other_epoch}) {
        rma::rules::wrong = wrong;
        World world(program);
        world.run();
        failure = world.failure();
        rma::rules::wrong = Wrong::none;
        EXPECT_EQ(failure.empty(), wrong == Wrong::none) << failure;
    }
    EXPECT_NE(failure.find("a flush is complete before an operation issued earlier"),
              std::string::npos);
}

constexpr const char* not_called = "was not called for what it had recorded";
constexpr const char* order_of_epochs = "active before one that it must wait for";
constexpr const char* order_of_locks = "granted before one that had asked earlier";
constexpr const char* access_over = "an exposure is over before its access";
constexpr const char* overtaken = "an ordered operation has overtaken another";
constexpr const char* exclusion = "two ranks hold a lock of which one is exclusive";

INSTANTIATE_TEST_SUITE_P(
    TestsOfTheTests, WrongRule,
    testing::Values(
        Case{"grant_early", Wrong::grant_early, "transferred before its exposure was opened"},
        Case{"exposure_over_early", Wrong::exposure_over_early, "is over before its access"},
        Case{"writer_joins_readers", Wrong::writer_joins_readers, exclusion},
        Case{"writer_overtakes", Wrong::writer_joins_readers, order_of_locks},
        Case{"reader_joins_writer", Wrong::reader_joins_writer, exclusion},
        Case{"reader_overtakes", Wrong::reader_joins_writer, order_of_locks},
        Case{"readers_take_no_places", Wrong::readers_take_no_places, exclusion},
        Case{"unlock_lets_nobody_in", Wrong::unlock_lets_nobody_in,
             "an unlock has let in a rank elsewhere that it does not tell"},
        Case{"flush_forgets_last", Wrong::flush_forgets_last, "deadlock"},
        Case{"flush_counts_later", Wrong::flush_counts_later,
             "a flush is complete before an operation issued earlier"},
        Case{"flush_leaves_out_threads", Wrong::flush_leaves_out_threads,
             "a flush is complete before an operation issued earlier"},
        Case{"request_early", Wrong::request_early, "before its operation is at the target"},
        Case{"flush_unseen", Wrong::flush_unseen,
             "a flush is complete before an operation issued earlier"},
        Case{"flush_hides_failure", Wrong::flush_hides_failure,
             "does not tell of a failure that it has waited for"},
        Case{"direct_overtakes", Wrong::direct_overtakes, "wrong data"},
        Case{"accumulate_overtakes", Wrong::accumulate_overtakes, "wrong data"},
        Case{"ordered_at_once", Wrong::accumulate_overtakes, overtaken},
        Case{"follows_long_get", Wrong::follows_long_get, "has not seen what its place"},
        Case{"follows_native", Wrong::follows_native, overtaken},
        Case{"native_follows", Wrong::native_follows, overtaken},
        Case{"long_puts_together", Wrong::long_puts_together, overtaken},
        Case{"not_behind_long_puts", Wrong::not_behind_long_puts, overtaken},
        Case{"barrier_misses_one", Wrong::barrier_misses_one,
             "a fence is complete before all have called it"},
        Case{"overlap_access_access", Wrong::overlap_access_access, order_of_epochs},
        Case{"overlap_access_exposure", Wrong::overlap_access_exposure, order_of_epochs},
        Case{"overlap_exposure_exposure", Wrong::overlap_exposure_exposure, order_of_epochs},
        Case{"overlap_exposure_access", Wrong::overlap_exposure_access, order_of_epochs},
        Case{"overlap_exclusive", Wrong::overlap_exclusive, order_of_epochs},
        Case{"locks_out_of_order", Wrong::locks_out_of_order, "deadlock"},
        Case{"exposures_behind_locks", Wrong::exposures_behind_locks, "deadlock"},
        Case{"notice_beside_messages", Wrong::notice_beside_messages, access_over},
        Case{"unlock_beside_messages", Wrong::notice_beside_messages, exclusion},
        Case{"grants_not_awaited", Wrong::grants_not_awaited, not_called},
        Case{"closed_locks_not_awaited", Wrong::closed_locks_not_awaited, not_called},
        Case{"deferred_work_forgotten", Wrong::deferred_work_forgotten, not_called},
        Case{"deferred_fence_forgotten", Wrong::deferred_fence_forgotten, not_called},
        Case{"ends_not_awaited", Wrong::ends_not_awaited, not_called},
        Case{"barrier_not_carried", Wrong::barrier_not_carried, not_called},
        Case{"readers_by_whole_sum", Wrong::readers_by_whole_sum, not_called},
        Case{"notice_overtakes_gets", Wrong::notice_overtakes_gets, access_over},
        Case{"notice_overtakes_zero_copies", Wrong::notice_overtakes_zero_copies, access_over},
        Case{"unlock_overtakes_zero_copies", Wrong::notice_overtakes_zero_copies, exclusion},
        Case{"notification_overtakes_gets", Wrong::notification_overtakes_gets,
             "a counter shows an operation that is not there"},
        Case{"notification_overtakes_zero_copies", Wrong::notification_overtakes_zero_copies,
             "a counter shows an operation that is not there"},
        Case{"notification_wakes_late", Wrong::notification_wakes_late, "deadlock"},
        Case{"threshold_early", Wrong::threshold_early,
             "a counter has not reached what was waited for"},
        Case{"name_outlives_region", Wrong::name_outlives_region,
             "the memory is not what all operations together make of it"}),
    [](const auto& tried) { return std::string(tried.param.name); });

namespace {

struct Rule {
    Wrong wrong;
    const char* property;
};

/// With each of them some of the programs that `draw` makes must say so.
void expect_caught(std::initializer_list<Rule> rules, Program (*draw)(std::uint64_t seed))
{
    for (const auto& [wrong, property] : rules) {
        rma::rules::wrong = wrong;
        Outcome outcome;
        for (std::uint64_t next = 0; next < seeds && outcome.failure.find(property) == nowhere;
             next = outcome.failed + 1) {
            outcome = run_programs(next, seeds, false, draw);
            if (outcome.ok) {
                break;
            }
        }
        rma::rules::wrong = Wrong::none;
        std::printf("seed %" PRIu64 ": %s\n", outcome.failed, outcome.failure.c_str());
        EXPECT_NE(outcome.failure.find(property), nowhere) << property;
    }
}

} // namespace

/// What unchanged programs would suffer from calls that return too early.
TEST(WrongRuleOfEarlyReturns, IsCaught)
{
    expect_caught({{Wrong::early_for_nobody, "deadlock"},
                   {Wrong::early_without_room, "more is kept for calls that have returned"},
                   {Wrong::early_with_gets, "an epoch is complete before all its operations"},
                   {Wrong::early_overtaken, "an access has overtaken what was kept"},
                   {Wrong::locks_beside_early, "a fence or a lock did not wait"}},
                  draw_blocking);
}

/// What origin and target do that both believe to have an offer, or neither.
TEST(WrongRuleOfOffers, IsCaught)
{
    expect_caught(
        {{Wrong::offer_out_of_turn, access_over},
         {Wrong::offer_before_exposure, "an access transferred before its exposure was opened"},
         {Wrong::offer_before_fence, "a fence is complete before all have called it"},
         {Wrong::offer_performed_twice, "the memory is not what all operations"},
         {Wrong::offer_over_early, access_over},
         {Wrong::offer_never_over, "deadlock"}},
        draw_offers);
}

/// On mapped memory an origin that does not hear of a release goes on.
TEST(WrongRuleOfReleases, IsCaught)
{
    rma::rules::wrong = Wrong::release_unseen;
    bool caught = true;
    for (const bool direct : {false, true}) {
        World world(late_access(2, direct, false));
        caught = caught && !world.run() &&
                 world.failure().find("does not tell of a failure") != std::string::npos;
        std::printf("release_unseen: %s\n", world.failure().c_str());
    }
    rma::rules::wrong = Wrong::none;
    EXPECT_TRUE(caught);
}

/// Members that do not talk to the dead wait for it for ever.
TEST(WrongRuleOfLosses, IsCaught)
{
    rma::rules::wrong = Wrong::loss_kept;
    const Outcome outcome = run_deaths(0, seeds, false);
    rma::rules::wrong = Wrong::none;
    ASSERT_FALSE(outcome.ok);
    std::printf("loss_kept: seed %" PRIu64 ": %s\n", outcome.failed, outcome.failure.c_str());
    EXPECT_NE(outcome.failure.find("deadlock"), std::string::npos) << outcome.failure;
}

TEST(WrongRuleOfBrokenWindows, IsCaught)
{
    rma::rules::wrong = Wrong::broken_window_stays;
    const Outcome outcome = run_deaths(0, seeds, false);
    rma::rules::wrong = Wrong::none;
    ASSERT_FALSE(outcome.ok);
    std::printf("broken_window_stays: seed %" PRIu64 ": %s\n", outcome.failed,
                outcome.failure.c_str());
    EXPECT_NE(outcome.failure.find("cannot be freed"), std::string::npos) << outcome.failure;
}

/// Who leaves a window with a lost member waits for nobody, but its memory may still be read.
TEST(WrongRuleOfFreedMemory, IsCaught)
{
    const std::uint64_t tried = 3 * seeds; // long gets are few
    rma::rules::wrong = Wrong::memory_taken_back;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    EXPECT_DEATH({ [[maybe_unused]] const Outcome outcome = run_deaths(0, tried, false); },
                 "heap-use-after-free");
    rma::rules::wrong = Wrong::none;
#else
    // What is read after it was freed may be garbage, or end the process.
    const auto caught = [](int status) { return WIFSIGNALED(status) || WEXITSTATUS(status) != 0; };
    EXPECT_EXIT(
        {
            const Outcome outcome = run_deaths(0, tried, false);
            std::exit(outcome.failure.find("garbage") != std::string::npos ? 1 : 0);
        },
        caught, "");
    rma::rules::wrong = Wrong::none;
#endif
}

/// A key that opened a region which is no more.
TEST(WrongRuleOfRegionKeys, IsCaught)
{
    for (const auto& [rule, property] :
         {std::pair(Wrong::keys_kept, "access memory that was not exposed"),
          std::pair(Wrong::detach_early, "that was detached is still exposed")}) {
        rma::rules::wrong = rule;
        Outcome outcome;
        for (std::uint64_t next = 0; next < seeds && outcome.failure.find(property) == nowhere;
             next = outcome.failed + 1) { // operations that were refused tell that as well
            outcome = run_programs(next, seeds, false, draw_renewals);
            ASSERT_FALSE(outcome.ok);
        }
        rma::rules::wrong = Wrong::none;
        std::printf("seed %" PRIu64 ": %s\n", outcome.failed, outcome.failure.c_str());
        EXPECT_NE(outcome.failure.find(property), nowhere) << outcome.failure;
    }
}

/// A fabric whose puts are over before they are there: what a missing flush of the network would
/// do.
TEST(WrongFabric, WhosePutsEndEarlyIsCaught)
{
    const Outcome outcome = run_programs(0, seeds, false, [](std::uint64_t seed) {
        Program program = draw_program(seed, taste_of(seed));
        program.opened = true;
        program.costs.native_percent = 100;
        program.costs.puts_end_early = true;
        return program;
    });
    ASSERT_FALSE(outcome.ok);
    std::printf("seed %" PRIu64 ": %s\n", outcome.failed, outcome.failure.c_str());
    const bool too_early = outcome.failure.find("complete before") != std::string::npos ||
                           outcome.failure.find("over before") != std::string::npos;
    EXPECT_TRUE(too_early) << outcome.failure;
}

/// And one whose fences order nothing.
TEST(WrongFabric, WhosePutsPassFencesIsCaught)
{
    const Outcome outcome = run_programs(0, seeds, false, [](std::uint64_t seed) {
        Program program = draw_program(seed, taste_of(seed));
        program.opened = true;
        program.costs.native_percent = 100;
        program.costs.fences_hold = false;
        return program;
    });
    ASSERT_FALSE(outcome.ok);
    std::printf("seed %" PRIu64 ": %s\n", outcome.failed, outcome.failure.c_str());
    EXPECT_NE(outcome.failure.find("ordered"), std::string::npos) << outcome.failure;
}

TEST(RightRules, AreNotCaught)
{
    const Outcome outcome = run_seeds(0, 500, true);
    EXPECT_TRUE(outcome.ok) << outcome.failure;
}

} // namespace sidelight::sim
