// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/recall.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace sidelight::host::node {
namespace {

using namespace std::chrono_literals;

constexpr auto for_long = 60s;

/// Until the other thread has been called, the program leaves again and again.
bool is_recalled(Recall& recall, bool waits, std::chrono::nanoseconds nap)
{
    bool recalled = false;
    std::atomic<bool> over{false};
    std::thread thread([&] {
        recalled = recall.nap(nap);
        over.store(true);
    });
    while (!over.load()) {
        recall.came();
        recall.leaves(waits);
        std::this_thread::sleep_for(1ms);
    }
    thread.join();
    return recalled;
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

/// Then now and then one start calls it all the same.
TEST(Recall, IsRareWhereItWasForNothing)
{
    Recall recall;
    recall.begin();
    for (int time = 0; time < Worth::patience; ++time) {
        recall.was_worth(false);
    }
    unsigned calls = 0;
    bool recalled = false;
    std::atomic<bool> over{false};
    std::thread thread([&] {
        recalled = recall.nap(for_long);
        over.store(true);
    });
    while (!over.load()) {
        recall.came();
        recall.leaves(true);
        ++calls;
        std::this_thread::sleep_for(1ms);
    }
    thread.join();
    EXPECT_TRUE(recalled);
    EXPECT_GE(calls, Worth::rarely);
}

} // namespace
} // namespace sidelight::host::node
