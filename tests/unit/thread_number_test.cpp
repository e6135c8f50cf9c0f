// SPDX-License-Identifier: BSD-3-Clause
#include "base/thread_number.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace sidelight::unit {
namespace {

TEST(ThreadNumber, StaysTheSame) { EXPECT_EQ(thread_number(), thread_number()); }

TEST(ThreadNumber, IsUsedAgainWhenItsThreadHasEnded)
{
    for (int round = 0; round < 200; ++round) {
        std::size_t number = thread_numbers;
        std::thread([&] { number = thread_number(); }).join();
        EXPECT_LT(number, 7U) << "thread " << round;
    }
}

/// More threads at once than there are numbers: no two have the same one, and some have none.
TEST(ThreadNumber, BelongsToOneLivingThread)
{
    constexpr std::size_t threads = thread_numbers + 10;
    std::vector<std::size_t> numbers(threads, thread_numbers);
    std::atomic<std::size_t> arrived{0};
    std::vector<std::thread> all;
    for (std::size_t index = 0; index < threads; ++index) {
        all.emplace_back([&, index] {
            numbers[index] = thread_number();
            ++arrived;
            while (arrived < threads) {
                std::this_thread::yield();
            }
        });
    }
    for (std::thread& one : all) {
        one.join();
    }
    std::multiset<std::size_t> given(numbers.begin(), numbers.end());
    for (std::size_t number = 0; number < thread_numbers; ++number) {
        EXPECT_LE(given.count(number), 1U) << number;
    }
    EXPECT_GE(given.count(thread_numbers), 10U);
}

} // namespace
} // namespace sidelight::unit
