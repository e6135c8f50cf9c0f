// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cstdint>

#include <gtest/gtest.h>

#include "lone_process.hpp"

/// Peers that end: those that said so before are not lost.
namespace sidelight::rma {
namespace {

class Parting : public testing::Test {
protected:
    Parting() { process_.set_messages(true); }

    Window& make_window(std::uint64_t id)
    {
        WindowShape shape;
        shape.id = id;
        shape.size = 3;
        shape.members = &members_;
        shape.neighbours = self_;
        shape.barrier = {.word = &word_, .node = 0, .leaders = leaders_};
        return process_.create_window(shape);
    }

    void hear_farewell(int peer)
    {
        MessageHeader header;
        header.kind = MessageKind::farewell;
        process_.receive(peer, std::as_bytes(std::span(&header, 1)));
    }

    void hear_of(int peer, std::uint64_t window)
    {
        MessageHeader header;
        header.kind = MessageKind::greeting;
        header.window = window;
        header.origin = static_cast<std::uint32_t>(peer);
        process_.receive(peer, std::as_bytes(std::span(&header, 1)));
    }

    CountingFabric fabric_;
    ThreeNodes members_;
    BarrierWord word_;
    std::array<std::int32_t, 1> self_{0};
    std::array<std::int32_t, 3> leaders_{0, 1, 2};
    Process process_{fabric_};
};

TEST_F(Parting, WhoEndsWithoutAWordIsLost)
{
    Window& window = make_window(7);
    ASSERT_EQ(window.lock(LockType::shared, 1, {.no_check = true}, nullptr), Status::ok);
    process_.lost(1);
    EXPECT_TRUE(window.broken());
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
