// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/recall.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace sidelight::host::node {
namespace {

using namespace std::chrono_literals;

constexpr auto for_long = 60s;
constexpr int most_tries = 100; ///< where other processes keep threads from their cores

/// Whether the other thread's nap is ended by what the program does again and again meanwhile.
template <class Program>
bool is_recalled(Recall& recall, std::chrono::nanoseconds nap, Program program)
{
    bool recalled = false;
    std::atomic<bool> over{false};
    std::thread thread([&] {
        recalled = recall.nap(nap);
        over.store(true);
    });
    while (!over.load()) {
        program();
    }
    thread.join();
    return recalled;
}

/// It leaves a call and computes.
bool is_recalled(Recall& recall, bool waits, std::chrono::nanoseconds nap)
{
    return is_recalled(recall, nap, [&] {
        recall.came();
        recall.leaves(waits);
        std::this_thread::sleep_for(1ms);
    });
}

TEST(Recall, EndsANapWhenTheProgramLeavesWorkAndComputes)
{
    Recall recall;
    recall.begin();
    EXPECT_TRUE(is_recalled(recall, true, for_long));
}

TEST(Recall, LeavesANapAloneWhereNothingIsWaitedFor)
{
    Recall recall;
    recall.begin();
    EXPECT_FALSE(is_recalled(recall, false, 20ms));
}

/// So often that it is not worth while any more.
void recall_in_vain(Recall& recall)
{
    for (int time = 0; time <= Worth::patience; ++time) { // the last one proves the one before
        EXPECT_TRUE(is_recalled(recall, true, for_long));
    }
}

/// How many calls of the program, each of which leaves work, that has taken.
unsigned calls_until_recalled(Recall& recall)
{
    unsigned calls = 0;
    EXPECT_TRUE(is_recalled(recall, for_long, [&] {
        recall.came();
        recall.leaves(true);
        ++calls;
        std::this_thread::sleep_for(1ms);
    }));
    return calls;
}

/// Then now and then one start calls it all the same.
TEST(Recall, IsRareWhereItWasForNothing)
{
    Recall recall;
    recall.begin();
    recall_in_vain(recall);
    EXPECT_TRUE(is_recalled(recall, true, for_long));
    EXPECT_GE(calls_until_recalled(recall), Worth::rarely);
    unsigned calls = Worth::rarely;
    for (int tries = 0; calls >= Worth::rarely && tries < most_tries; ++tries) {
        recall.has_moved();
        calls = calls_until_recalled(recall);
    }
    EXPECT_LT(calls, Worth::rarely);
}

/// A target that serves alone has nothing to wait for, and its barriers are the host's.
TEST(Recall, EndsANapWhenTheProgramHasLeftTheHost)
{
    Recall recall;
    recall.begin();
    EXPECT_TRUE(is_recalled(recall, for_long, [&] {
        recall.is_in_host();
        std::this_thread::sleep_for(1ms);
    }));
}

/// Where this thread is kept from its core between the two it seems to compute.
TEST(Recall, KnowsThatTheProgramGoesOnBehindTheHost)
{
    bool recalled = true;
    for (int tries = 0; recalled && tries < most_tries; ++tries) {
        Recall recall;
        recall.begin();
        recalled = is_recalled(recall, for_long, [&] {
            recall.is_in_host();
            recall.came();
            recall.leaves(false);
            std::this_thread::sleep_for(1ms);
        });
    }
    EXPECT_FALSE(recalled);
}

TEST(Recall, IsRareWhereTheProgramGoesOnBehindTheHost)
{
    Recall recall;
    recall.begin();
    for (int nap = 0; nap < 5 * Worth::patience; ++nap) { // it may call in few of them
        is_recalled(recall, 5ms, [&] {
            recall.is_in_host();
            recall.came();
            recall.leaves(false);
            std::this_thread::sleep_for(1ms);
        });
    }
    const auto stays_in_host = [&] {
        recall.is_in_host();
        std::this_thread::sleep_for(1ms);
    };
    int recalled = 0;
    for (int nap = 0; nap < Worth::patience; ++nap) {
        recalled += is_recalled(recall, 5ms, stays_in_host) ? 1 : 0;
    }
    EXPECT_LE(recalled, 1); // now and then one is watched all the same
}

/// Work that calls leave in vain is no reason not to watch for the end of the host's.
TEST(Recall, CountsBothReasonsByThemselves)
{
    Recall recall;
    recall.begin();
    recall_in_vain(recall);
    EXPECT_TRUE(is_recalled(recall, for_long, [&] {
        recall.is_in_host();
        std::this_thread::sleep_for(1ms);
    }));
}

} // namespace
} // namespace sidelight::host::node
