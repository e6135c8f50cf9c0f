// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include <time.h>

#include "base/cpu.hpp"
#include "base/futex.hpp"

namespace sidelight::messages {

/// Who is in MPI: threads of the program, any number of them at once, or our own thread for one
/// step of progress; never both. All in one word, so that each side finds out with the instruction
/// by which it comes. The program waits for the end of a step, our thread never for the program.
class Presence {
public:
    /// A thread of the program calls; it may be inside already.
    void enter() noexcept
    {
        const std::uint64_t before = word_.fetch_add(visit + one, std::memory_order_acquire);
        if ((before & stepping) != 0) [[unlikely]] {
            await_end_of_step();
        }
    }
    /// Likewise for a thread that a step may be waiting for: it waits 100 ms at most.
    void enter_before_long() noexcept
    {
        constexpr int most_looks = 100;
        constexpr timespec look{.tv_sec = 0, .tv_nsec = 1'000'000};
        word_.fetch_add(visit + one, std::memory_order_acquire);
        for (int looks = 0; looks < most_looks && is_stepping(); ++looks) {
            nanosleep(&look, nullptr);
        }
    }
    /// What it did is seen by the step that comes after it.
    void leave() noexcept { word_.fetch_sub(one, std::memory_order_release); }

    /// Changes with each call of the program's. A hint.
    [[nodiscard]] std::uint64_t visits() const noexcept
    {
        return word_.load(std::memory_order_relaxed) & ~(visit - 1);
    }

    /// Our own thread: false while anybody of the program is inside.
    [[nodiscard]] bool try_begin_step() noexcept
    {
        std::uint64_t seen = word_.load(std::memory_order_relaxed);
        steps_here_ = (seen & inside) == 0 && word_.compare_exchange_strong(
                                                  seen, seen | stepping, std::memory_order_acquire);
        return steps_here_;
    }
    void end_step() noexcept
    {
        steps_here_ = false;
        const std::uint64_t before = word_.fetch_and(~stepping, std::memory_order_release);
        if ((before & inside) != 0) {
            ends_.fetch_add(1, std::memory_order_release);
            futex_wake_all(futex_word(ends_), FutexScope::process);
        }
    }
    /// Whether the calling thread is in a step, and would wait for itself.
    [[nodiscard]] static bool is_stepping_here() noexcept { return steps_here_; }
    [[nodiscard]] bool is_stepping() const noexcept
    {
        return (word_.load(std::memory_order_acquire) & stepping) != 0;
    }

private:
    static constexpr std::uint64_t one = 1;
    static constexpr std::uint64_t inside = (std::uint64_t{1} << 30) - 1;
    static constexpr std::uint64_t stepping = std::uint64_t{1} << 31;
    static constexpr std::uint64_t visit = std::uint64_t{1} << 32;

    /// Whoever is counted inside before the step ends is told of its end.
    void await_end_of_step() noexcept
    {
        constexpr int looks_before_sleep = 1000;
        for (int looks = 0; is_stepping(); ++looks) {
            if (looks < looks_before_sleep) {
                relax_cpu();
                continue;
            }
            const std::uint32_t ends = ends_.load(std::memory_order_acquire);
            if (is_stepping()) {
                futex_wait(futex_word(ends_), ends, FutexScope::process);
            }
        }
    }

    static inline thread_local bool steps_here_ = false;

    std::atomic<std::uint64_t> word_{0};
    std::atomic<std::uint32_t> ends_{0}; ///< of steps that somebody may wait for
};

} // namespace sidelight::messages
