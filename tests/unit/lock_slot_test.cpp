// SPDX-License-Identifier: BSD-3-Clause
#include "base/lock_slot.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace sidelight::unit {
namespace {

TEST(LockSlot, StaysTheSame) { EXPECT_EQ(lock_slot_of_thread(), lock_slot_of_thread()); }

TEST(LockSlot, IsUsedAgainWhenItsThreadHasEnded)
{
    for (int round = 0; round < 200; ++round) {
        std::size_t number = lock_slots;
        std::thread([&] { number = lock_slot_of_thread(); }).join();
        EXPECT_LT(number, 7U) << "thread " << round;
    }
}

/// More threads at once than there are numbers: no two have the same one, and some have none.
TEST(LockSlot, BelongsToOneLivingThread)
{
    constexpr std::size_t threads = lock_slots + 10;
    std::vector<std::size_t> numbers(threads, lock_slots);
    std::atomic<std::size_t> arrived{0};
    std::vector<std::thread> all;
    for (std::size_t index = 0; index < threads; ++index) {
        all.emplace_back([&, index] {
            numbers[index] = lock_slot_of_thread();
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
    for (std::size_t number = 0; number < lock_slots; ++number) {
        EXPECT_LE(given.count(number), 1U) << number;
    }
    EXPECT_GE(given.count(lock_slots), 10U);
}

} // namespace
} // namespace sidelight::unit
