// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/notification_counters.hpp"

#include <gtest/gtest.h>

#include <array>

#include "fabric/mapped/mapped_peer_memory.hpp"

namespace sidelight::rma {
namespace {

class NoAttention final : public Attention {
    void needed(bool) noexcept override {}
};

class NotificationCountersTest : public testing::Test {
protected:
    NotificationCountersTest() { set(1); }
    void set(std::uint32_t number) { ASSERT_EQ(counters.set(number), Status::ok); }
    void raise(int times)
    {
        for (; times != 0; --times) {
            static_cast<void>(counters.block()->raise(0));
        }
    }
    void await(std::uint64_t expected, Request& request)
    {
        ASSERT_EQ(counters.await(0, expected, &request), Status::ok);
    }
    std::uint64_t reset()
    {
        std::uint64_t found = 0;
        EXPECT_EQ(counters.reset(0, found), Status::ok);
        return found;
    }
    std::uint64_t value()
    {
        std::uint64_t found = 0;
        EXPECT_EQ(counters.value(0, found), Status::ok);
        return found;
    }

    NotificationRoot root;
    fabric::MappedPeerMemory memory;
    NoAttention attention;
    NotificationCounters counters{root, memory, attention};
};

/// Whether or not somebody has looked since it was asked for.
TEST_F(NotificationCountersTest, AResetLeavesNothingOfWhatItReaches)
{
    for (const bool seen : {false, true}) {
        Request request;
        await(2, request);
        if (seen) {
            EXPECT_FALSE(counters.look());
        }
        raise(2);
        EXPECT_EQ(reset(), 2U);
        EXPECT_TRUE(request.complete);
        EXPECT_FALSE(counters.awaited());
    }
}

TEST_F(NotificationCountersTest, AResetCompletesAllThatItReaches)
{
    Request reached;
    Request later;
    await(2, reached);
    await(3, later);
    EXPECT_FALSE(counters.look());
    raise(2);
    EXPECT_EQ(reset(), 2U);
    EXPECT_TRUE(reached.complete);
    EXPECT_FALSE(later.complete);
    raise(2);
    EXPECT_FALSE(counters.look());
    raise(1);
    EXPECT_TRUE(counters.look());
    EXPECT_TRUE(later.complete);
    EXPECT_FALSE(counters.awaited());
}

/// From the reset on, whoever raises it tells its owner of what is waited for after it.
TEST_F(NotificationCountersTest, AResetSaysWhatIsWaitedForFromThenOn)
{
    Request request;
    await(3, request);
    EXPECT_FALSE(counters.look());
    raise(2);
    EXPECT_EQ(reset(), 2U);
    EXPECT_FALSE(counters.block()->raise(0));
    EXPECT_FALSE(counters.block()->raise(0));
    EXPECT_TRUE(counters.block()->raise(0));
    EXPECT_TRUE(counters.look());
    EXPECT_TRUE(request.complete);
}

/// It was for one of those that are gone.
TEST_F(NotificationCountersTest, OneThatCameTooEarlyRaisesNoneOfThoseMadeLater)
{
    Channel from;
    const NotifyBody early{.operation = 1, .index = 0, .zero_copies = 1, .last_copy = 1};
    ASSERT_EQ(counters.serve(from, early), Status::ok);
    EXPECT_EQ(value(), 0U);
    set(1);
    from.zero_copies_taken.take(1);
    counters.let_count(from);
    EXPECT_EQ(value(), 0U);
}

TEST_F(NotificationCountersTest, OneThatCameTooEarlyCountsWithItsPut)
{
    Channel from;
    const NotifyBody early{.operation = 1, .index = 0, .zero_copies = 1, .last_copy = 1};
    ASSERT_EQ(counters.serve(from, early), Status::ok);
    from.zero_copies_taken.take(1);
    counters.let_count(from);
    EXPECT_EQ(value(), 1U);
}

/// And for itself alone. What has counted, or was for counters that are gone, makes room.
TEST_F(NotificationCountersTest, EachOriginMayHaveSoManyThatCameTooEarly)
{
    std::array<Channel, 2> origins;
    const auto serve = [&](Channel& from, std::uint32_t put) {
        const NotifyBody early{.operation = 1, .index = 0, .zero_copies = 1, .last_copy = put};
        return counters.serve(from, early);
    };
    const auto fill = [&](Channel& from, std::uint32_t put) {
        for (std::uint32_t number = 0; number < Series::span; ++number) {
            ASSERT_EQ(serve(from, put), Status::ok);
        }
        EXPECT_EQ(serve(from, put), Status::other);
    };
    fill(origins[0], 1);
    fill(origins[1], 1);
    origins[0].zero_copies_taken.take(1);
    counters.let_count(origins[0]);
    EXPECT_EQ(value(), Series::span);
    fill(origins[0], 2);
    set(1);
    fill(origins[0], 2);
    fill(origins[1], 1);
    origins[1].zero_copies_taken.take(1);
    counters.let_count(origins[1]);
    EXPECT_EQ(value(), Series::span);
}

} // namespace
} // namespace sidelight::rma
