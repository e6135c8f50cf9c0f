// SPDX-License-Identifier: BSD-3-Clause
#include "rma/channel/order.hpp"

#include <gtest/gtest.h>

#include "rma/channel/channel.hpp"

namespace sidelight::rma {

/// Small ones that it would follow may be held there for zero-copy puts, also for those whose own
/// order does not count. It would be in memory before them.
TEST(Order, ALongPutStaysAwayFromATargetWhereOthersAreHeld)
{
    Channel target;
    target.under_way[static_cast<std::size_t>(Road::messages)] = 1;
    target.order_sent = 2;
    target.zero_copies_placed = 1;
    EXPECT_FALSE(may_start(target, Road::long_put));
    EXPECT_TRUE(may_start(target, Road::messages));
    target.zero_copies_placed = 2;
    EXPECT_TRUE(may_start(target, Road::long_put));
}

TEST(Order, ALongPutWaitsForAnother)
{
    Channel target;
    target.under_way[static_cast<std::size_t>(Road::long_put)] = 1;
    EXPECT_FALSE(may_start(target, Road::long_put));
    EXPECT_TRUE(may_start(target, Road::messages));
}

/// Numbers wrap around, and one that others were sent behind long ago must not look like one to
/// come.
TEST(Order, ManyZeroCopyPutsLaterNothingIsHeld)
{
    Channel target;
    constexpr std::uint32_t step = 1U << 30;
    for (int round = 0; round < 4; ++round) {
        target.zero_copies_sent += step;
        note_placed(target, target.zero_copies_sent);
        EXPECT_TRUE(may_start(target, Road::long_put)) << round;
    }
}

} // namespace sidelight::rma
