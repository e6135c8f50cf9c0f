// SPDX-License-Identifier: BSD-3-Clause
#include "messages/live_requests.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "messages/rules.hpp"

namespace sidelight::messages {
namespace {

constexpr LiveRequests::Traits plain{};
constexpr LiveRequests::Traits persistent{.persistent = true};
constexpr LiveRequests::Traits barring{.barring = true};

TEST(LiveRequests, OneIsLiveFromItsStartToItsCompletion)
{
    LiveRequests requests;
    EXPECT_TRUE(requests.empty());
    EXPECT_EQ(requests.find(7), LiveRequests::none);
    requests.hand_out(7, plain, true);
    EXPECT_EQ(requests.live(), 1U);
    requests.complete(7, requests.find(7));
    EXPECT_EQ(requests.live(), 0U);
    EXPECT_EQ(requests.find(7), LiveRequests::none);
    EXPECT_TRUE(requests.empty());
}

TEST(LiveRequests, APersistentOneIsKeptUntilItIsFreed)
{
    LiveRequests requests;
    requests.hand_out(7, persistent, false);
    const auto serial = requests.find(7);
    EXPECT_EQ(requests.live(), 0U);
    for (int round = 0; round < 3; ++round) {
        requests.start(7, serial, 7);
        EXPECT_EQ(requests.live(), 1U);
        requests.complete(7, serial);
        EXPECT_EQ(requests.live(), 0U);
        EXPECT_EQ(requests.find(7), serial);
    }
    requests.forget(7, serial);
    EXPECT_TRUE(requests.empty());
}

TEST(LiveRequests, AStartMayMoveARequestToAnotherHandle)
{
    LiveRequests requests;
    requests.hand_out(7, persistent, false);
    requests.start(7, requests.find(7), 9);
    EXPECT_EQ(requests.find(7), LiveRequests::none);
    EXPECT_NE(requests.find(9), LiveRequests::none);
    EXPECT_EQ(requests.live(), 1U);
}

/// One thread completes a request, the host gives its handle to another thread's, and only then
/// does the first one come to say so.
TEST(LiveRequests, AHandleThatIsHandedOutAgainIsAnotherRequest)
{
    LiveRequests requests;
    requests.hand_out(7, plain, true);
    const auto old = requests.find(7);
    requests.hand_out(7, plain, true);
    EXPECT_EQ(requests.live(), 1U);
    requests.forget(7, old);
    requests.complete(7, old);
    requests.found_complete(7, old);
    EXPECT_EQ(requests.live(), 1U);
    EXPECT_NE(requests.find(7), LiveRequests::none);
}

TEST(LiveRequests, WhatIsFoundCompleteIsKnownUntilTheProgramHasIt)
{
    LiveRequests requests;
    requests.hand_out(7, plain, true);
    EXPECT_EQ(requests.look(10, [](Handle) { return true; }), 1U);
    EXPECT_EQ(requests.live(), 0U);
    EXPECT_NE(requests.find(7), LiveRequests::none);
    requests.forget(7, requests.find(7));
    EXPECT_TRUE(requests.empty());
}

TEST(LiveRequests, ALookEndsAtTheFirstThatIsNotComplete)
{
    LiveRequests requests;
    for (Handle handle = 1; handle <= 4; ++handle) {
        requests.hand_out(handle, plain, true);
    }
    std::vector<Handle> asked;
    const auto complete = [&](Handle handle) {
        asked.push_back(handle);
        return handle % 2 == 0;
    };
    for (int turn = 0; turn < 4; ++turn) {
        requests.look(10, complete);
    }
    EXPECT_EQ(requests.live(), 2U);
    for (Handle handle = 1; handle <= 4; ++handle) {
        EXPECT_TRUE(std::count(asked.begin(), asked.end(), handle) > 0) << handle;
    }
    EXPECT_LE(asked.size(), 6U);
}

TEST(LiveRequests, ALookAsksNoMoreThanItMay)
{
    LiveRequests requests;
    for (Handle handle = 1; handle <= 10; ++handle) {
        requests.hand_out(handle, plain, true);
    }
    EXPECT_EQ(requests.look(3, [](Handle) { return true; }), 3U);
    EXPECT_EQ(requests.live(), 7U);
}

TEST(LiveRequests, ForeignOnesAreCountedWhileTheyLive)
{
    LiveRequests requests;
    requests.hand_out(1, barring, true);
    requests.hand_out(2, plain, true);
    EXPECT_EQ(requests.live_barring(), 1U);
    requests.complete(1, requests.find(1));
    EXPECT_EQ(requests.live_barring(), 0U);
    EXPECT_EQ(requests.live(), 1U);
    requests.forget_all();
    EXPECT_TRUE(requests.empty());
    EXPECT_EQ(requests.live(), 0U);
}

/// Of many handles, as a call that completes some has them.
TEST(LiveRequests, ThoseOfManyHandlesAreFoundInTheirOrder)
{
    LiveRequests requests;
    for (const Handle handle : {Handle{30}, Handle{10}, Handle{20}}) {
        requests.hand_out(handle, plain, true);
    }
    const std::vector<Handle> handles{0, 10, 7, 20, 0, 30};
    std::vector<int> indices;
    const auto find_each = [&](Handle goes) {
        indices.clear();
        requests.find_each(
            6, requests.newest(), [&](int index) { return handles[index]; },
            [&](int index, Handle handle, LiveRequests::Serial serial) {
                EXPECT_EQ(handle, handles[index]);
                EXPECT_NE(serial, LiveRequests::none);
                indices.push_back(index);
                return handle != goes;
            });
    };
    find_each(20);
    EXPECT_EQ(indices, (std::vector<int>{1, 3, 5}));
    EXPECT_EQ(requests.live(), 2U);
    find_each(0);
    EXPECT_EQ(indices, (std::vector<int>{1, 5}));
}

/// A completing call looks up its handles when it is over; the host may have given one of them to a
/// request that was started meanwhile.
TEST(LiveRequests, WhatIsHandedOutLaterIsNotFoundForEarlierOnes)
{
    LiveRequests requests;
    requests.hand_out(10, plain, true);
    requests.hand_out(20, plain, true);
    const LiveRequests::Serial before = requests.newest();
    requests.hand_out(10, plain, true);
    const std::vector<Handle> handles{10, 20};
    std::vector<Handle> found;
    requests.find_each(
        2, before, [&](int index) { return handles[index]; },
        [&](int, Handle handle, LiveRequests::Serial) { return found.push_back(handle), true; });
    EXPECT_EQ(found, std::vector<Handle>{20});
    EXPECT_EQ(requests.live(), 2U);
}

/// Against a map, with handles that come again and again.
TEST(LiveRequests, RandomLivesAreCountedRight)
{
    struct Known {
        bool persistent;
        bool live;
    };
    LiveRequests requests;
    std::map<Handle, Known> expected;
    std::minstd_rand random(5);
    const auto check = [&] {
        const auto live = std::count_if(expected.begin(), expected.end(),
                                        [](const auto& one) { return one.second.live; });
        ASSERT_EQ(requests.live(), static_cast<unsigned>(live));
        ASSERT_EQ(requests.empty(), expected.empty());
    };
    for (int step = 0; step < 200000; ++step) {
        const Handle handle = 16 * (random() % 500);
        const auto known = expected.find(handle);
        if (known == expected.end()) {
            const bool keeps = random() % 4 == 0;
            requests.hand_out(handle, {.persistent = keeps}, !keeps);
            expected[handle] = {keeps, !keeps};
        } else if (random() % 8 == 0) {
            requests.forget(handle, requests.find(handle));
            expected.erase(known);
        } else if (!known->second.live) {
            if (known->second.persistent) {
                requests.start(handle, requests.find(handle), handle);
                known->second.live = true;
            }
        } else if (random() % 3 == 0) {
            requests.look(1, [&](Handle one) {
                expected[one].live = false;
                return true;
            });
        } else {
            requests.complete(handle, requests.find(handle));
            known->second.live = false;
            if (!known->second.persistent) {
                expected.erase(known);
            }
        }
        check();
    }
}

TEST(MessageRules, LargeIsAboveTheLimitOrAlways)
{
    EXPECT_FALSE(rules::is_large({.bytes = 4096}, 4096));
    EXPECT_TRUE(rules::is_large({.bytes = 4097}, 4096));
    EXPECT_TRUE(rules::is_large({.always = true}, 4096));
    EXPECT_FALSE(rules::is_large({}, 0));
}

TEST(MessageRules, FunctionsOfTheProgramRunOnItsOwnThreadsAlone)
{
    EXPECT_TRUE(rules::may_step({.live = 1}));
    EXPECT_FALSE(rules::may_step({.live = 0}));
    EXPECT_FALSE(rules::may_step({.live = 1, .wanted = false}));
    EXPECT_FALSE(rules::may_step({.live = 2, .live_barring = 1}));
    EXPECT_FALSE(rules::may_step({.live = 1, .calls_back = true}));
}

} // namespace
} // namespace sidelight::messages
