// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "rma/epoch/flush_queue.hpp"

/// Flushes that wait in one place, by hand.
namespace sidelight::rma {

namespace {

class FlushQueueTest : public testing::Test {
protected:
    void push(Flush& flush, std::uint64_t stamp, std::uint32_t operations)
    {
        ASSERT_TRUE(queue_.make_room());
        queue_.push(flush, stamp, operations);
    }
    /// These are over, in that order.
    void take(std::span<Flush> flushes)
    {
        for (Flush& flush : flushes) {
            ASSERT_TRUE(queue_.is_first_over());
            ASSERT_EQ(&queue_.take_first(), &flush);
        }
    }

    std::array<Flush, 3> flushes_;
    FlushQueue queue_{no_thread};
};

} // namespace

TEST_F(FlushQueueTest, EndsEachWithTheLastOfAllBeforeIt)
{
    push(flushes_[0], 2, 2);
    push(flushes_[1], 2, 2); // nothing is issued between those two
    push(flushes_[2], 3, 3);
    EXPECT_FALSE(queue_.count_down(4, Status::ok));
    EXPECT_TRUE(queue_.count_down(3, Status::ok));
    EXPECT_TRUE(queue_.count_down(1, Status::ok));
    EXPECT_FALSE(queue_.is_first_over());
    EXPECT_TRUE(queue_.count_down(2, Status::ok));
    take(flushes_);
    EXPECT_FALSE(queue_.is_first_over());
    push(flushes_[0], 5, 1);
    EXPECT_TRUE(queue_.count_down(5, Status::ok));
    ASSERT_TRUE(queue_.is_first_over());
    EXPECT_EQ(&queue_.take_first(), flushes_.data());
}

TEST_F(FlushQueueTest, TellsAFailureToThatFlushAndThoseBehindIt)
{
    push(flushes_[0], 1, 1);
    push(flushes_[1], 2, 2);
    push(flushes_[2], 3, 3);
    EXPECT_TRUE(queue_.count_down(2, Status::rma_range));
    EXPECT_TRUE(queue_.count_down(3, Status::ok));
    EXPECT_TRUE(queue_.count_down(1, Status::ok));
    take(flushes_);
    EXPECT_EQ(flushes_[0].status, Status::ok);
    EXPECT_EQ(flushes_[1].status, Status::rma_range);
    EXPECT_EQ(flushes_[2].status, Status::rma_range);
}

/// Those behind it that have come since do not wait for what has failed.
TEST_F(FlushQueueTest, TellsAFailureToNoneThatComesLater)
{
    push(flushes_[0], 2, 2);
    push(flushes_[1], 2, 2);
    EXPECT_TRUE(queue_.count_down(1, Status::rma_range));
    push(flushes_[2], 3, 2);
    EXPECT_TRUE(queue_.count_down(2, Status::ok));
    EXPECT_EQ(queue_.take_first().status, Status::rma_range);
    EXPECT_EQ(queue_.take_first().status, Status::rma_range);
    EXPECT_TRUE(queue_.count_down(3, Status::ok));
    EXPECT_EQ(queue_.take_first().status, Status::ok);
}

/// Failed operations of two of them, the later one first; those between the two tell of it alone.
TEST_F(FlushQueueTest, TellsOfEachOfTwoFailuresWhereItIsWaitedFor)
{
    push(flushes_[0], 1, 1);
    push(flushes_[1], 2, 2);
    EXPECT_TRUE(queue_.count_down(2, Status::rma_range));
    push(flushes_[2], 3, 2);
    EXPECT_TRUE(queue_.count_down(1, Status::lost));
    EXPECT_TRUE(queue_.count_down(3, Status::ok));
    take(flushes_);
    EXPECT_EQ(flushes_[0].status, Status::lost);
    EXPECT_NE(flushes_[1].status, Status::ok);
    EXPECT_EQ(flushes_[2].status, Status::lost);
}

/// The same, the earlier one first: the last of them does not wait for that.
TEST_F(FlushQueueTest, TellsTheFailureThatAllHaveWaitedFor)
{
    push(flushes_[0], 1, 1);
    push(flushes_[1], 2, 2);
    EXPECT_TRUE(queue_.count_down(1, Status::lost));
    push(flushes_[2], 3, 2);
    EXPECT_TRUE(queue_.count_down(2, Status::rma_range));
    EXPECT_TRUE(queue_.count_down(3, Status::ok));
    take(flushes_);
    EXPECT_EQ(flushes_[0].status, Status::lost);
    EXPECT_EQ(flushes_[1].status, Status::rma_range);
    EXPECT_EQ(flushes_[2].status, Status::rma_range);
}

/// What very many have taken is given back with the last; then it begins anew.
TEST_F(FlushQueueTest, TakesAnyNumber)
{
    constexpr std::uint32_t waiting = 10'000;
    std::vector<Flush> flushes(waiting);
    for (int round = 0; round < 2; ++round) {
        for (std::uint32_t age = 1; age <= waiting; ++age) {
            push(flushes[age - 1], age, age);
        }
        for (std::uint32_t age = waiting; age >= 1; --age) {
            ASSERT_TRUE(queue_.count_down(age, Status::ok));
        }
        take(flushes);
        ASSERT_FALSE(queue_.is_first_over());
        ASSERT_FALSE(queue_.count_down(1, Status::ok));
    }
}

/// So many always wait that the queue has to grow, and goes round.
TEST_F(FlushQueueTest, GoesOnForEver)
{
    constexpr std::uint32_t waiting = 20;
    std::array<Flush, waiting + 1> flushes;
    for (std::uint32_t age = 1; age < 1'000; ++age) {
        push(flushes.at(age % flushes.size()), age, std::min(age, waiting + 1));
        if (age > waiting) {
            ASSERT_FALSE(queue_.is_first_over());
            ASSERT_TRUE(queue_.count_down(age - waiting, Status::ok));
            ASSERT_TRUE(queue_.is_first_over());
            ASSERT_EQ(&queue_.take_first(), &flushes.at((age - waiting) % flushes.size()));
        }
    }
}

} // namespace sidelight::rma
