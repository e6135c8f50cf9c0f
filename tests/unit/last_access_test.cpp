// SPDX-License-Identifier: BSD-3-Clause
#include "base/last_access.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sidelight {
namespace {

const std::array<int, 2> places{};

/// Whether a thread that does this between two questions is taken for one that polls.
template <class Access>
bool polls(Access access)
{
    LastAccess::moved();
    static_cast<void>(LastAccess::is_repeated());
    bool found = false;
    for (int times = 0; times < 3; ++times) {
        access(times);
        found = LastAccess::is_repeated();
    }
    return found;
}

TEST(LastAccess, FindsAPollByWhatIsFetchedAgain)
{
    EXPECT_TRUE(polls([](int) { LastAccess::fetched(&places[0], 0); }));
    EXPECT_TRUE(polls([](int) { LastAccess::fetched(&places[0], 7); }));
    EXPECT_TRUE(polls([](int) {
        LastAccess::fetched(&places[0], 7);
        LastAccess::synchronized(); // by a flush
    }));
    EXPECT_TRUE(polls([](int) { LastAccess::synchronized(); }));
}

TEST(LastAccess, TakesNothingElseForAPoll)
{
    EXPECT_FALSE(polls([](int) {}));
    EXPECT_FALSE(polls([](int) { LastAccess::moved(); }));
    EXPECT_FALSE(polls([](int) {
        LastAccess::fetched(&places[0], 7);
        LastAccess::moved();
        LastAccess::synchronized();
    }));
    EXPECT_FALSE(polls([](int times) { LastAccess::fetched(&places[times % 2], 7); }));
    for (const unsigned step : {1U, 4U, 256U}) { // a counter
        EXPECT_FALSE(polls([&](int times) { LastAccess::fetched(&places[0], step * times); }));
    }
}

} // namespace
} // namespace sidelight
