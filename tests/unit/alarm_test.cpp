// SPDX-License-Identifier: BSD-3-Clause
#include "base/alarm.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "unit/open_files.hpp"

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
    const int timer = unit::next_descriptor();
    Alarm alarm;
    alarm.open();
    const unit::PipeInItsPlace pipe(timer);
    alarm.set(1ms);
    alarm.sleep();
    alarm.drop();
    EXPECT_TRUE(pipe.is_untouched());
}

} // namespace
} // namespace sidelight
