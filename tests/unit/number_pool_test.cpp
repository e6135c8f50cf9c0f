// SPDX-License-Identifier: BSD-3-Clause
#include "base/number_pool.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace sidelight::unit {
namespace {

TEST(NumberPool, GivesTheLowestUntilAllAreTaken)
{
    for (const unsigned numbers : {0U, 1U, 63U, NumberPool::most}) {
        NumberPool pool(numbers);
        for (unsigned number = 0; number < numbers; ++number) {
            EXPECT_EQ(pool.take(), number);
        }
        EXPECT_EQ(pool.take(), std::nullopt);
    }
}

TEST(NumberPool, GivesAgainWhatWasGivenBack)
{
    NumberPool pool(3);
    for (unsigned number = 0; number < 3; ++number) {
        EXPECT_EQ(pool.take(), number);
    }
    pool.give_back(2);
    pool.give_back(1);
    EXPECT_EQ(pool.take(), 1U);
    EXPECT_EQ(pool.take(), 2U);
    EXPECT_EQ(pool.take(), std::nullopt);
}

/// Its owners write to a plain word of each number: that only one has it is for ThreadSanitizer.
TEST(NumberPool, GivesEachNumberToOneAtATime)
{
    constexpr unsigned numbers = 3;
    constexpr int rounds = 20000;
    NumberPool pool(numbers);
    std::array<int, numbers> uses{};
    std::atomic<int> refused{0};
    std::vector<std::thread> all;
    for (int thread = 0; thread < 4; ++thread) {
        all.emplace_back([&] {
            for (int round = 0; round < rounds; ++round) {
                if (const std::optional<unsigned> number = pool.take()) {
                    ++uses[*number];
                    pool.give_back(*number);
                } else {
                    ++refused;
                }
            }
        });
    }
    for (std::thread& one : all) {
        one.join();
    }
    EXPECT_EQ(uses[0] + uses[1] + uses[2] + refused, 4 * rounds);
}

} // namespace
} // namespace sidelight::unit
