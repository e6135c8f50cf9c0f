// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.hpp"

namespace sidelight {

/// Which of the calls of a program that polls are worth asking the clock for, which takes longer
/// than such a call: those that begin long after the one before, and one in some of the others.
/// Told by ticks, which are quicker to read; how fast they are is learnt. Pure: fed with both. For
/// one thread at a time; others only lose a hint.
class ClosePolls {
public:
    static constexpr Time close{1'000};
    static constexpr int polls_per_look = 16;

    /// A poll begins.
    [[nodiscard]] bool is_noted(std::uint64_t tick) noexcept
    {
        const std::uint64_t passed = tick - latest_.load(std::memory_order_relaxed);
        const int polls = unnoted_.load(std::memory_order_relaxed) + 1;
        const bool noted =
            passed >= ticks_.load(std::memory_order_relaxed) || polls == polls_per_look;
        latest_.store(tick, std::memory_order_relaxed);
        unnoted_.store(noted ? 0 : polls, std::memory_order_relaxed);
        return noted;
    }
    /// One that is noted: what the clock says.
    void note(Time now, std::uint64_t tick) noexcept
    {
        constexpr Time enough{10'000};
        const Time passed = now - noted_at_.load(std::memory_order_relaxed);
        if (passed < enough) {
            return;
        }
        const std::uint64_t before = noted_.exchange(tick, std::memory_order_relaxed);
        noted_at_.store(now, std::memory_order_relaxed);
        if (before != 0) {
            const double rate =
                static_cast<double>(tick - before) / static_cast<double>(passed.count());
            ticks_.store(static_cast<std::uint64_t>(rate * static_cast<double>(close.count())),
                         std::memory_order_relaxed);
        }
    }

private:
    std::atomic<std::uint64_t> latest_{0}; ///< poll
    std::atomic<int> unnoted_{0};          ///< polls since the last one that was noted
    std::atomic<std::uint64_t> ticks_{0};  ///< that `close` takes; zero: not known
    std::atomic<Time> noted_at_{};
    std::atomic<std::uint64_t> noted_{0}; ///< the tick of that time
};

} // namespace sidelight
