// SPDX-License-Identifier: BSD-3-Clause
#include "base/alarm.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <thread>

#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/log.hpp"

namespace sidelight {

namespace {

constexpr std::chrono::nanoseconds longest_without_timer = std::chrono::milliseconds(10);
/// In milliseconds. A timer that is closed meanwhile says nothing, also not that MPI ends.
constexpr int longest_poll = 10'000;

} // namespace

void Alarm::open() noexcept
{
    if (can_be_set()) {
        return;
    }
    timer_ = HeldFile(out_of_the_way(File(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC))));
    if (!can_be_set()) {
        log(LogLevel::info, "a thread looks a hundred times a second: no timer: %s",
            std::strerror(errno));
    }
}

void Alarm::set(std::chrono::nanoseconds time) noexcept
{
    if (can_be_set()) {
        set_timer(std::max(time, std::chrono::nanoseconds(1))); // zero: never
    } else {
        set_.store(time, std::memory_order_relaxed);
    }
}

void Alarm::clear() noexcept
{
    if (can_be_set()) {
        set_timer(std::chrono::nanoseconds(0));
    } else {
        set_.store(longest_without_timer, std::memory_order_relaxed);
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

/// A timer that a program has closed, with all descriptors that it does not know, is none. What it
/// has opened in its place is not read.
void Alarm::sleep() noexcept
{
    if (timer_.is_open()) {
        pollfd timer{.fd = timer_.descriptor(), .events = POLLIN, .revents = 0};
        const bool went_off = poll(&timer, 1, longest_poll) > 0 && timer_.is_open();
        std::uint64_t times = 0;
        if (!went_off || read(timer_.descriptor(), &times, sizeof times) == sizeof times) {
            return;
        }
    }
    const std::chrono::nanoseconds wanted = set_.load(std::memory_order_relaxed);
    std::this_thread::sleep_for(can_be_set() ? longest_without_timer
                                             : std::min(wanted, longest_without_timer));
}

} // namespace sidelight
