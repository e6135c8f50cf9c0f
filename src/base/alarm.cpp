// SPDX-License-Identifier: BSD-3-Clause
#include "base/alarm.hpp"

#include <algorithm>
#include <cstdint>
#include <thread>

#include <sys/timerfd.h>
#include <unistd.h>

namespace sidelight {

namespace {

constexpr std::chrono::nanoseconds longest_without_timer = std::chrono::milliseconds(1);

} // namespace

Alarm::Alarm() noexcept : timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)) {}

void Alarm::set(std::chrono::nanoseconds time) noexcept
{
    if (timer_) {
        set_timer(std::max(time, std::chrono::nanoseconds(1))); // zero: never
    } else {
        set_ = time;
    }
}

void Alarm::clear() noexcept
{
    if (timer_) {
        set_timer(std::chrono::nanoseconds(0));
    } else {
        set_ = longest_without_timer;
    }
}

void Alarm::set_timer(std::chrono::nanoseconds time) noexcept
{
    constexpr std::chrono::nanoseconds::rep second = 1'000'000'000;
    const itimerspec when{
        .it_interval = {},
        .it_value = {.tv_sec = time.count() / second, .tv_nsec = time.count() % second}};
    timerfd_settime(timer_.descriptor(), 0, &when, nullptr);
}

void Alarm::sleep() noexcept
{
    if (timer_) {
        std::uint64_t times = 0;
        [[maybe_unused]] const ssize_t read_bytes = read(timer_.descriptor(), &times, sizeof times);
    } else {
        std::this_thread::sleep_for(std::min(set_, longest_without_timer));
    }
}

} // namespace sidelight
