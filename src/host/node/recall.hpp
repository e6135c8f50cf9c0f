// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/futex.hpp"
#include "base/stretches.hpp"

namespace sidelight::host::node {

/// How the interrupt thread, which naps while the program calls again and again, is called back
/// when the program leaves work to be done and computes. Where the program has threads nobody
/// calls it. See docs/design/interest.md.
class Recall {
public:
    // --- The program, in its calls ---------------------------------------------------------------
    void came() noexcept
    {
        if (stretches_.in_phase()) [[unlikely]] {
            stretches_.came(now());
        }
    }
    /// `waits`: a window waits for something, with which this or another process goes on.
    void leaves(bool waits) noexcept
    {
        if (waits) [[unlikely]] {
            stretches_.left(now());
            if (naps_.load(std::memory_order_relaxed) && stretches_.expects_long() &&
                worth_.now()) {
                call();
            }
        } else if (stretches_.in_phase()) [[unlikely]] {
            stretches_.end_phase();
        }
    }

    // --- The thread ------------------------------------------------------------------------------
    /// Sleeps for so long, or until it is called. Answers whether it was.
    bool nap(std::chrono::nanoseconds time) noexcept
    {
        const std::uint32_t before = calls_.load(std::memory_order_acquire);
        naps_.store(true, std::memory_order_relaxed);
        futex_wait_for(futex_word(calls_), before, FutexScope::process, time);
        naps_.store(false, std::memory_order_relaxed);
        return calls_.load(std::memory_order_acquire) != before;
    }
    /// It has moved something since it was called, or is called again and has not.
    void was_worth(bool moved) noexcept { worth_.slept_again(moved ? Worth::enough : Time(0)); }

private:
    static Time now() noexcept { return std::chrono::steady_clock::now().time_since_epoch(); }
    void call() noexcept
    {
        naps_.store(false, std::memory_order_relaxed);
        calls_.fetch_add(1, std::memory_order_release);
        futex_wake_one(futex_word(calls_), FutexScope::process);
    }

    Stretches stretches_;
    Worth worth_;
    std::atomic<bool> naps_{false};
    std::atomic<std::uint32_t> calls_{0};
};

} // namespace sidelight::host::node
