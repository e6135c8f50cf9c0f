// SPDX-License-Identifier: BSD-3-Clause
#include "base/alarm.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>

#include <unistd.h>

#include "base/descriptors.hpp"
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

/// One that is never shortened would sleep for ten seconds.
TEST(Alarm, IsSetToASoonerTimeByOthers)
{
    Alarm alarm;
    alarm.open();
    alarm.set(60s);
    const auto begin = Clock::now();
    std::thread other([&] { alarm.set(1ms); });
    alarm.sleep();
    EXPECT_GE(Clock::now() - begin, 1ms);
    EXPECT_LT(Clock::now() - begin, 8s);
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
    EXPECT_LT(Clock::now() - begin, 8s);
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

/// The number of the only timer of this process.
int descriptor_of_timer()
{
    int found = -1;
    any_descriptor([&](int number) {
        std::array<char, 64> text{};
        const std::string path = "/proc/self/fd/" + std::to_string(number);
        const ssize_t length = readlink(path.c_str(), text.data(), text.size() - 1);
        const bool is_timer = length > 0 && std::string_view(text.data()) == "anon_inode:[timerfd]";
        found = is_timer ? number : found;
        return is_timer;
    });
    return found;
}

/// Timers and event descriptors have one identity: what the program opens must not come there.
TEST(Alarm, HasANumberThatProgramsDoNotComeTo)
{
    Alarm alarm;
    alarm.open();
    EXPECT_GT(descriptor_of_timer(), unit::next_descriptor() + 100);
}

/// The program closes it while it is slept at: whoever sets it then, or wants the thread to end, is
/// heard soon.
TEST(Alarm, SleepsNotLongAtATimerThatIsClosed)
{
    Alarm alarm;
    alarm.open();
    alarm.clear();
    const auto begin = Clock::now();
    std::thread other([&] {
        std::this_thread::sleep_for(5ms);
        close(descriptor_of_timer());
        alarm.set(0ms);
    });
    alarm.sleep();
    EXPECT_LT(Clock::now() - begin, 30s);
    other.join();
}

/// The program has closed all descriptors that it does not know, and opened its own.
TEST(Alarm, ReadsNothingOfAFileInItsPlace)
{
    Alarm alarm;
    alarm.open();
    const unit::PipeInItsPlace pipe(descriptor_of_timer());
    alarm.set(1ms);
    alarm.sleep();
    alarm.drop();
    EXPECT_TRUE(pipe.is_untouched());
}

} // namespace
} // namespace sidelight
