// SPDX-License-Identifier: BSD-3-Clause
#include "host/open_sessions.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <thread>

namespace sidelight::unit {
namespace {

using host::OpenSessions;

constexpr auto nothing = [] {};

/// Answers whether it was the last.
bool end_one(OpenSessions& sessions, bool world_is_up = false, bool refused = false)
{
    bool was_last = false;
    sessions.end(world_is_up, [&](bool last) { was_last = last; });
    sessions.ended(refused, nothing);
    return was_last;
}

TEST(OpenSessions, TheLastClosesUnlessTheWorldIsUp)
{
    OpenSessions sessions;
    sessions.begin(nothing);
    sessions.begin(nothing);
    EXPECT_FALSE(end_one(sessions));
    EXPECT_TRUE(sessions.any());
    EXPECT_TRUE(end_one(sessions));
    EXPECT_FALSE(sessions.any());
    sessions.begin(nothing);
    EXPECT_FALSE(end_one(sessions, true));
}

/// The host says that the world is up until its MPI_Finalize is over, which may wait for a session.
TEST(OpenSessions, TheLastClosesBehindAWorldThatEnds)
{
    OpenSessions sessions;
    sessions.begin(nothing);
    sessions.end_world([](bool last) { EXPECT_FALSE(last); });
    EXPECT_TRUE(end_one(sessions, true));
}

TEST(OpenSessions, OneThatIsRefusedGoesOnAndIsTheLastAgain)
{
    OpenSessions sessions;
    sessions.begin(nothing);
    EXPECT_TRUE(end_one(sessions, false, true));
    EXPECT_TRUE(sessions.any());
    EXPECT_TRUE(end_one(sessions));
}

TEST(OpenSessions, OneThatBeganUnseenDoesNotHideTheNext)
{
    OpenSessions sessions;
    EXPECT_TRUE(end_one(sessions));
    sessions.begin(nothing);
    EXPECT_TRUE(sessions.any());
    EXPECT_TRUE(end_one(sessions));
}

/// Both have told that they end before the host hears of either.
TEST(OpenSessions, OneOfTwoThatEndTogetherIsTheLast)
{
    OpenSessions sessions;
    std::atomic<int> closed{0};
    std::barrier both(2);
    const auto work = [&] {
        for (int round = 0; round < 2000; ++round) {
            sessions.begin(nothing);
            both.arrive_and_wait();
            sessions.end(false, [&](bool last) { closed += last ? 1 : 0; });
            both.arrive_and_wait();
            sessions.ended(false, nothing);
            EXPECT_EQ(closed, round + 1);
            both.arrive_and_wait();
        }
    };
    std::thread other(work);
    work();
    other.join();
}

/// What begins is used when the last has closed, and never beside it.
TEST(OpenSessions, NobodyBeginsWhileTheLastCloses)
{
    OpenSessions sessions;
    std::atomic<int> users{0};
    std::atomic<int> met{0};
    const auto work = [&] {
        for (int round = 0; round < 20'000; ++round) {
            sessions.begin(nothing);
            ++users;
            --users;
            sessions.end(false, [&](bool last) { met += last && users != 0 ? 1 : 0; });
            sessions.ended(false, nothing);
        }
    };
    std::thread other(work);
    work();
    other.join();
    EXPECT_EQ(met, 0);
}

} // namespace
} // namespace sidelight::unit
