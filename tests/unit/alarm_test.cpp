// SPDX-License-Identifier: BSD-3-Clause
#include "base/alarm.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>

#include <unistd.h>

namespace sidelight {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST(Alarm, GoesOffAfterItsTime)
{
    Alarm alarm;
    alarm.open();
    ASSERT_TRUE(alarm.can_be_set());
    const auto begin = Clock::now();
    alarm.set(5ms);
    alarm.sleep();
    EXPECT_GE(Clock::now() - begin, 5ms);
}

/// One that is never shortened would sleep for a minute.
TEST(Alarm, IsSetToASoonerTimeByOthers)
{
    Alarm alarm;
    alarm.open();
    alarm.set(60s);
    const auto begin = Clock::now();
    std::thread other([&] { alarm.set(1ms); });
    alarm.sleep();
    EXPECT_GE(Clock::now() - begin, 1ms);
    EXPECT_LT(Clock::now() - begin, 30s);
    other.join();
}

TEST(Alarm, ClearedGoesOffOnlyWhenSetByOthers)
{
    Alarm alarm;
    alarm.open();
    alarm.set(1ms);
    alarm.clear();
    const auto begin = Clock::now();
    std::thread other([&] {
        std::this_thread::sleep_for(5ms);
        alarm.set(0ms);
    });
    alarm.sleep();
    EXPECT_GE(Clock::now() - begin, 5ms);
    EXPECT_LT(Clock::now() - begin, 30s);
    other.join();
}

/// Where the process may open no descriptor: it sleeps for ten milliseconds at most.
TEST(Alarm, SleepsShortlyWithoutATimer)
{
    Alarm alarm;
    ASSERT_FALSE(alarm.can_be_set());
    alarm.set(1h);
    alarm.sleep();
    alarm.clear();
    alarm.sleep();
    const auto begin = Clock::now();
    alarm.set(2ms);
    alarm.sleep();
    EXPECT_GE(Clock::now() - begin, 2ms);
}

/// The program has closed all descriptors that it does not know, and opened its own.
TEST(Alarm, ReadsNothingOfAFileInItsPlace)
{
    const int next = dup(STDERR_FILENO);
    close(next);
    Alarm alarm;
    alarm.open();
    close(next);
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    ASSERT_EQ(ends[0], next);
    const std::array<char, 8> sent{"program"};
    ASSERT_EQ(write(ends[1], sent.data(), sent.size()), sent.size());
    alarm.set(1ms);
    alarm.sleep();
    alarm.drop();
    std::array<char, 8> read_back{};
    ASSERT_EQ(read(ends[0], read_back.data(), read_back.size()), sent.size());
    EXPECT_EQ(read_back, sent);
    close(ends[0]);
    close(ends[1]);
}

} // namespace
} // namespace sidelight
