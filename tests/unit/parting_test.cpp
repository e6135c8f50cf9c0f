// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>

#include <gtest/gtest.h>

#include "lone_process.hpp"
#include "rma/operation/mapped.hpp"

/// Peers that end: those that said so before are not lost.
namespace sidelight::rma {
namespace {

class Parting : public LoneProcess {
protected:
    void hear_farewell(int peer)
    {
        hear(peer, Framed<NoBody>{.header = {.kind = MessageKind::farewell}, .body = {}});
    }

    void hear_of(int peer, std::uint64_t window)
    {
        hear(peer, Framed<NoBody>{.header = {.kind = MessageKind::probe,
                                             .origin = static_cast<std::uint32_t>(peer),
                                             .window = window},
                                  .body = {}});
    }
};

TEST_F(Parting, WhoEndsWithoutAWordIsLost)
{
    Window& window = make_window(7);
    ASSERT_EQ(window.lock(LockType::shared, 1, {.no_check = true}, nullptr), Status::ok);
    process_.lost(1);
    EXPECT_TRUE(window.broken());
}

/// As a member that has freed a broken window, which others go on with.
TEST_F(Parting, WhoIsLostOnTheSameNodeIsNotLockedAnyMore)
{
    members_.bring_near(1);
    Window& window = make_window(7);
    ASSERT_EQ(window.lock(LockType::shared, 1, {}, nullptr), Status::ok);
    ASSERT_EQ(window.unlock(1, nullptr), Status::ok);
    ASSERT_TRUE(window.settled().lock(LockType::shared, 1));
    EXPECT_NE(window.mapped().memory(1, 0, 8), nullptr);
    ASSERT_TRUE(window.settled().unlock(1));
    process_.lost(1);
    EXPECT_FALSE(window.settled().lock(LockType::shared, 1));
    EXPECT_EQ(window.lock(LockType::shared, 1, {}, nullptr), Status::lost);
    EXPECT_EQ(window.mapped().memory(1, 0, 8), nullptr);
}

TEST_F(Parting, WhoIsLostInAnOpenFenceEpochIsNotReachedAnyMore)
{
    members_.bring_near(1);
    Window& window = make_window(7);
    ASSERT_EQ(window.fence({}, nullptr), Status::ok);
    for (const auto& [leader, round] : {std::pair(2, 0), std::pair(1, 1)}) {
        hear_from(leader, 7, MessageKind::barrier,
                  BarrierBody{.round = static_cast<std::uint64_t>(round), .number = 1});
    }
    process_.progress();
    EXPECT_NE(window.mapped().memory(1, 0, 8), nullptr);
    process_.lost(1);
    process_.progress();
    EXPECT_EQ(window.mapped().memory(1, 0, 8), nullptr);
    ASSERT_EQ(window.fence({}, nullptr), Status::ok);
    process_.progress();
    EXPECT_EQ(window.mapped().memory(1, 0, 8), nullptr);
}

TEST_F(Parting, WhoHasSaidFarewellIsNotLost)
{
    Window& window = make_window(7);
    ASSERT_EQ(window.lock(LockType::shared, 1, {.no_check = true}, nullptr), Status::ok);
    hear_farewell(1);
    process_.lost(1);
    EXPECT_FALSE(window.broken());
}

TEST_F(Parting, WhoComesBackCanBeLost)
{
    hear_farewell(1);
    process_.lost(1);
    Window& again = make_window(8);
    ASSERT_EQ(again.lock(LockType::shared, 1, {.no_check = true}, nullptr), Status::ok);
    EXPECT_FALSE(again.broken());
    process_.lost(1);
    EXPECT_TRUE(again.broken());
}

TEST_F(Parting, NobodyWaitsForWhoHasSaidFarewellAndEnded)
{
    make_window(7);
    hear_of(1, 7);
    hear_farewell(1);
    process_.lost(1);
    process_.say_farewell();
    EXPECT_TRUE(process_.has_parted());
}

TEST_F(Parting, NobodyWaitsForWhoHasSaidFarewell)
{
    make_window(7);
    hear_of(1, 7);
    hear_of(2, 7);
    hear_farewell(1);
    process_.say_farewell();
    EXPECT_FALSE(process_.has_parted());
    hear_farewell(2);
    EXPECT_TRUE(process_.has_parted());
}

} // namespace
} // namespace sidelight::rma
