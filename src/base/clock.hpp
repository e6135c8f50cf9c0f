// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <ctime>

namespace sidelight {

/// A moment of the system's steady clock, or how long something takes.
using Time = std::chrono::nanoseconds;

[[nodiscard]] inline Time now() noexcept
{
    return std::chrono::steady_clock::now().time_since_epoch();
}

/// What the calling thread has had of a core, whoever else is there. A system call.
[[nodiscard]] inline Time processor_time() noexcept
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + Time(time.tv_nsec);
}

} // namespace sidelight
