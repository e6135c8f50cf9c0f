// SPDX-License-Identifier: BSD-3-Clause
#include "messages/pace.hpp"

#include <optional>

#include <gtest/gtest.h>

#include "base/stretches.hpp"

namespace sidelight::messages {
namespace {

using namespace std::chrono_literals;

constexpr std::nullopt_t program = std::nullopt; // it is in MPI, or was
constexpr Time nothing{0};                       // has moved

TEST(Pace, GrowsWithTheTimeWaited)
{
    Pace pace;
    pace.begin(0ns);
    EXPECT_EQ(pace.next(nothing, 100us, 500ns), Pace::shortest);
    EXPECT_EQ(pace.next(nothing, 2ms, 1us), 500us);
    EXPECT_EQ(pace.next(nothing, 40ms, 1us), Pace::longest);
}

TEST(Pace, GoesOnAtOnceWhileThingsMove)
{
    Pace pace;
    pace.begin(0ns);
    EXPECT_EQ(pace.next(nothing, 40ms, 1us), Pace::longest);
    EXPECT_EQ(pace.next(90us, 41ms, 100us), 0ns);
    EXPECT_EQ(pace.next(nothing, 41ms + 100us, 500ns), Pace::shortest);
}

TEST(Pace, StandsBackWhileTheProgramComesByAgainAndAgain)
{
    Pace pace;
    pace.begin(0ns);
    Time last = 0ns;
    for (int i = 0; i < 10; ++i) {
        const Time pause = pace.next(program, 1ms * i, 0ns);
        EXPECT_GE(pause, last);
        last = pause;
    }
    EXPECT_EQ(last, Pace::longest_behind_program);
    EXPECT_EQ(pace.next(nothing, 11ms, 1us), 500us);
    EXPECT_EQ(pace.next(program, 12ms, 0ns), 2 * Pace::shortest);
}

/// The announcement of a message is a short step, which is taken for nothing.
TEST(Pace, TakesAFewShortStepsInVainAtOnce)
{
    Pace pace;
    pace.begin(0ns);
    EXPECT_EQ(pace.next(nothing, 50us, 15us), Pace::shortest);
    EXPECT_EQ(pace.next(nothing, 100us, 15us), Pace::shortest);
    Time pause{};
    for (int step = 0; step < 20; ++step) {
        pause = pace.next(nothing, 150us, 15us);
    }
    EXPECT_GT(pause, Pace::longest);
    EXPECT_EQ(pace.next(Pace::for_sure, 200us, 15us), 0ns);
    EXPECT_EQ(pace.next(nothing, 250us, 15us), Pace::shortest);
}

TEST(Pace, LooksSoonAfterACallThatFollowsTheFirst)
{
    Pace pace;
    pace.begin(0ns);
    EXPECT_EQ(pace.next(program, 50us, 0ns), Pace::shortest);
    EXPECT_EQ(pace.next(program, 100us, 0ns), 2 * Pace::shortest);
}

/// A large request is started, waited for after so long, and complete.
void pass(Stretches& stretches, Time& now, Time stretch)
{
    stretches.left(now);
    stretches.call_begins([&] { return now += stretch; });
    stretches.end_phase();
}

TEST(Stretches, AreExpectedUntilSomePhasesHadNone)
{
    Stretches stretches;
    Time now = 1ms;
    for (int phase = 0; phase < Stretches::patience; ++phase) {
        EXPECT_TRUE(stretches.expects_long());
        pass(stretches, now, 1us);
    }
    EXPECT_FALSE(stretches.expects_long());
    pass(stretches, now, Stretches::long_enough);
    EXPECT_TRUE(stretches.expects_long());
}

TEST(Stretches, OneIsLongWhileItLasts)
{
    Stretches stretches;
    EXPECT_FALSE(stretches.is_long(1s));
    stretches.left(1ms);
    EXPECT_FALSE(stretches.is_long(1ms + Stretches::long_enough / 2));
    EXPECT_TRUE(stretches.is_long(1ms + Stretches::long_enough));
    stretches.is_inside(2ms); // in the host
    EXPECT_FALSE(stretches.is_long(2ms));
    stretches.call_begins([] { return 2ms; });
    EXPECT_FALSE(stretches.is_long(3ms));
}

/// The clock, which takes longer than all else here, is left alone.
TEST(Stretches, NobodyAsksForTheTimeBehindALongOne)
{
    Stretches stretches;
    int asked = 0;
    const auto come_at = [&](Time time) {
        stretches.call_begins([&, time] { return ++asked, time; });
    };
    come_at(1ms);
    EXPECT_EQ(asked, 0);
    stretches.left(1ms);
    come_at(1ms + 1us);
    EXPECT_EQ(asked, 1);
    stretches.left(2ms);
    come_at(3ms);
    EXPECT_EQ(asked, 2);
    for (int call = 2; call < Stretches::most_stretches; ++call) {
        stretches.left(3ms);
        EXPECT_TRUE(stretches.is_long(4ms));
        come_at(4ms);
        EXPECT_FALSE(stretches.is_long(5ms));
    }
    EXPECT_EQ(asked, 2);
    stretches.left(5ms); // in the next phase
    come_at(6ms);
    EXPECT_EQ(asked, 3);
}

/// Many short calls beside a long stretch are one phase.
TEST(Stretches, OneInAPhaseIsEnough)
{
    Stretches stretches;
    Time now = 1ms;
    for (int phase = 0; phase < 2 * Stretches::patience; ++phase) {
        for (int call = 0; call < 20; ++call) {
            stretches.left(now);
            stretches.call_begins([&] { return ++now; });
        }
        pass(stretches, now, 1ms);
        EXPECT_TRUE(stretches.expects_long());
    }
}

/// A request that is always under way, and calls that come by all the time.
TEST(Stretches, APhaseWithoutEndIsJudgedInParts)
{
    Stretches stretches;
    Time now = 1ms;
    for (int call = 0; call < Stretches::patience * Stretches::most_stretches; ++call) {
        EXPECT_TRUE(stretches.expects_long());
        stretches.left(now);
        stretches.call_begins([&] { return now += 1us; });
    }
    EXPECT_FALSE(stretches.expects_long());
}

/// A program that polls a request that is under way. Its ticks are three to the nanosecond.
struct Polls {
    Stretches stretches;
    Time now = 1ms;
    int asked = 0; ///< for the time

    [[nodiscard]] auto clock()
    {
        return [this] { return ++asked, now; };
    }
    void begin()
    {
        stretches.poll_begins(clock(),
                              [this] { return 3 * static_cast<std::uint64_t>(now.count()); });
    }
    /// `count` polls, each of which takes `length`, and `gap` behind each.
    void in_vain(int count, Time gap, Time length = 20ns)
    {
        for (int poll = 0; poll < count; ++poll) {
            begin();
            now += length;
            stretches.poll_ends(true, true, clock());
            now += gap;
        }
    }
    /// Many times more than it takes to expect no long one any more.
    static constexpr int very_many =
        2 * Stretches::patience * Stretches::most_stretches * ClosePolls::polls_per_look;
};

/// One in some of them costs the clock.
TEST(Stretches, PollsInVainThatFollowOneAnotherLeaveTheClockAlone)
{
    Polls polls;
    polls.stretches.left(polls.now);
    polls.in_vain(2000, 50ns); // in which it learns how fast ticks are
    polls.asked = 0;
    polls.in_vain(1600, 50ns);
    EXPECT_LE(polls.asked, 2 * 1600 / ClosePolls::polls_per_look + 2);
    EXPECT_FALSE(polls.stretches.is_long(polls.now)); // it has been in MPI a moment ago
    polls.asked = 0;
    polls.in_vain(100, 10us);
    EXPECT_GE(polls.asked, 190); // far from each other: each is a stretch
}

/// Whatever polls come before and behind it, and whatever call ends it.
TEST(Stretches, ALongOneAmongPollsIsSeen)
{
    for (int count = 0; count < 3 * ClosePolls::polls_per_look; ++count) {
        for (const bool by_call : {true, false}) {
            Polls polls;
            Stretches& stretches = polls.stretches;
            for (int phase = 0; phase < 4 * Stretches::patience; ++phase) {
                stretches.left(polls.now);
                polls.in_vain(count, 50ns);
                polls.now += 1ms;
                if (by_call) {
                    stretches.call_begins(polls.clock());
                    stretches.call_ends(false, polls.clock());
                } else { // a poll that finds the last one complete
                    polls.begin();
                    stretches.poll_ends(false, false, polls.clock());
                }
                EXPECT_FALSE(stretches.in_phase());
                EXPECT_TRUE(stretches.expects_long()) << count;
            }
        }
    }
}

/// Neither many that follow one another make one, nor some that do not, nor those that take long.
TEST(Stretches, PollsAreNoLongOne)
{
    for (const Time gap : {Time(50ns), Time(900ns), Time(2us), Time(50us)}) {
        for (const Time length : {Time(20ns), Time(900ns), Time(11us), Time(90us)}) {
            Polls polls;
            polls.stretches.left(polls.now);
            polls.in_vain(Polls::very_many, gap, length);
            EXPECT_FALSE(polls.stretches.expects_long()) << gap.count() << ", " << length.count();
        }
    }
}

/// Two polls at once, with some work in between.
TEST(Stretches, PairsOfPollsAreNoLongOne)
{
    for (const Time work : {Time(5us), Time(20us), Time(100us)}) {
        Polls polls;
        polls.stretches.left(polls.now);
        for (int pair = 0; pair < Polls::very_many; ++pair) {
            polls.in_vain(1, 30ns);
            polls.in_vain(1, work);
        }
        EXPECT_FALSE(polls.stretches.expects_long());
    }
}

/// One that copies all that is missing is over when the request is.
TEST(Stretches, ALongPollThatFindsSomethingIsNoLongOne)
{
    Polls polls;
    for (int phase = 0; phase < 2 * Stretches::patience; ++phase) {
        polls.stretches.left(polls.now);
        polls.in_vain(100, 50ns);
        polls.begin();
        polls.now += 1ms;
        polls.stretches.poll_ends(false, false, polls.clock());
    }
    EXPECT_FALSE(polls.stretches.expects_long());
}

TEST(Stretches, OfNothingPollsAreNoConcern)
{
    Polls polls;
    for (int call = 0; call < 100; ++call) {
        polls.begin();
        polls.stretches.poll_ends(true, false, polls.clock());
    }
    EXPECT_EQ(polls.asked, 0);
}

TEST(Worth, IsLearntAnewNowAndThen)
{
    Worth worth;
    for (int wake = 0; wake < Worth::patience; ++wake) {
        EXPECT_TRUE(worth.is());
        worth.slept_again(Worth::enough / 2);
    }
    EXPECT_FALSE(worth.is());
    int woken = 0;
    for (unsigned start = 0; start < 10 * Worth::rarely; ++start) {
        woken += worth.now() ? 1 : 0;
    }
    EXPECT_EQ(woken, 10);
    worth.slept_again(Worth::enough);
    EXPECT_TRUE(worth.now());
}

/// Whatever a step costs: the processor time of steps and wakes that move nothing, over seconds.
/// One step in `slow` is slow by chance, or none.
void expect_rare_looks(Time wake, Time quick, int slow)
{
    Pace pace;
    Motion motion;
    pace.begin(0ns);
    Time now = 0ns;
    Time busy = 0ns;
    Time pause = 1ns;
    for (int look = 1; now < 10s; ++look) {
        const Time step = slow != 0 && look % slow == 0 ? 2 * quick + 5us : quick;
        const Time cost = step + (pause != 0ns ? wake : 0ns);
        now += cost;
        busy += cost;
        const Time moving = motion.of(step);
        pause = pace.next(moving, now, cost);
        now += pause;
    }
    EXPECT_LT(busy, now / 50) << quick.count() << " ns a step, " << wake.count() << " a wake";
}

TEST(Pace, TakesLessThanTwoPercentOfACoreWhileNothingMoves)
{
    for (const Time wake : {6us, 26us}) {
        for (const Time step : {1us, 5us, 20us, 100us, 300us}) {
            expect_rare_looks(wake, step, 0);
        }
    }
}

/// With one in four, on a virtual machine, it took 2 to 4 %.
TEST(Pace, TakesLessThanTwoPercentWhereStepsAreSlowNowAndThen)
{
    for (const Time step : {1us, 3us, 10us}) {
        expect_rare_looks(26us, step, 4);
    }
}

/// So many moving steps, and one that moves nothing behind each `few`. Answers how long it sleeps.
Time sleeps_beside(Time quick, Time step, int steps, int few)
{
    Pace pace;
    Motion motion;
    pace.begin(0ns);
    Time now = 1s;
    Time slept = 0ns;
    const auto look = [&](Time cost) {
        now += cost;
        const Time moving = motion.of(cost);
        const Time pause = pace.next(moving, now, cost);
        now += pause;
        return pause;
    };
    look(quick);
    for (int count = 1; count <= steps; ++count) {
        slept += look(step);
        slept += count % few == 0 ? look(quick) : 0ns;
    }
    return slept;
}

/// Parts of a message that take little longer than a step in vain may be all that comes of it.
TEST(Pace, GoesOnWithWhatComesInSmallParts)
{
    EXPECT_LE(sleeps_beside(1us, 8us, 64, 8), 64 / 8 * 2 * Pace::shortest);
    EXPECT_LE(sleeps_beside(11us, 30us, 64, 8), 64 / 8 * 2 * Pace::shortest);
    EXPECT_LE(sleeps_beside(1us, 6us, 256, 4), 256 / 4 * 2 * Pace::shortest);
}

/// Each part waits for an answer to the one before, so the thread sleeps in between.
TEST(Pace, LooksAgainSoonForPartsThatWaitForAnswers)
{
    for (const Time idle : {1us, 5us, 10us}) {
        const Time step = 2 * idle + 12us;
        EXPECT_LE(sleeps_beside(idle, step, 200, 1), 200 * 2 * Pace::shortest);
    }
}

/// Each step that finds one complete is followed by one in vain.
TEST(Pace, StaysAwakeForSmallRequestsThatComplete)
{
    Pace pace;
    pace.begin(0ns);
    Time now = 1s;
    for (int request = 0; request < 100; ++request) {
        EXPECT_EQ(pace.next(Pace::for_sure, now += 2us, 2us), 0ns);
        EXPECT_EQ(pace.next(nothing, now += 1us, 1us), Pace::shortest);
        now += Pace::shortest;
    }
}

TEST(Motion, IsAStepThatTakesSeveralTimesAsLong)
{
    Motion motion;
    EXPECT_EQ(0ns, motion.of(5us));
    EXPECT_EQ(0ns, motion.of(1us));
    EXPECT_EQ(0ns, motion.of(2us));
    EXPECT_GT(motion.of(30us), 25us);
    EXPECT_EQ(0ns, motion.of(1us));
}

/// Else a host whose every step takes longer than once would never be left alone.
TEST(Motion, WhatTakesLongForEverIsNoMotion)
{
    Motion motion;
    EXPECT_EQ(0ns, motion.of(1us));
    int moved = 0;
    for (int step = 0; step < 2000; ++step) {
        moved += motion.of(20us) != 0ns ? 1 : 0;
    }
    EXPECT_GT(moved, 50);
    EXPECT_LT(moved, 1000);
    EXPECT_EQ(0ns, motion.of(20us));
}

} // namespace
} // namespace sidelight::messages
