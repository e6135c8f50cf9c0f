// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>

#include "base/held_file.hpp"

namespace sidelight {

/// How a thread sleeps for a time that others may shorten. They wake nobody for it: a wake would
/// take their core at once, and the sleeper would only go on to sleep for the shorter time.
class Alarm {
public:
    /// Before anybody sleeps or sets it. Without a timer of the kernel's (timerfd) nothing shortens
    /// a sleep.
    void open() noexcept;
    /// In the child of a fork, whose timer is its parent's.
    void drop() noexcept { timer_ = HeldFile(); }

    [[nodiscard]] bool can_be_set() const noexcept { return timer_.descriptor() >= 0; }
    /// Goes off after so long, from now on, and at no other time. Any thread.
    void set(std::chrono::nanoseconds time) noexcept;
    /// Does not go off. By the sleeper.
    void clear() noexcept;
    /// Until it goes off, or for ten seconds. By the sleeper; without a timer for what was set, ten
    /// milliseconds at most.
    void sleep() noexcept;

private:
    void set_timer(std::chrono::nanoseconds time) noexcept;

    HeldFile timer_;
    std::atomic<std::chrono::nanoseconds> set_{}; ///< where there is no timer
};

} // namespace sidelight
