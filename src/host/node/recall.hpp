// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>

#include "base/alarm.hpp"
#include "base/stretches.hpp"

namespace sidelight::host::node {

/// How the interrupt thread, which naps while the program calls again and again, is called back
/// when the program leaves work to be done and computes. Where the program has threads nobody
/// calls it. See docs/design/standing-back.md.
class Recall {
public:
    // --- The program, in its calls ---------------------------------------------------------------
    void came() noexcept { stretches_.call_begins(now); }
    /// `waits`: a window waits for something, with which this or another process goes on.
    void leaves(bool waits) noexcept
    {
        stretches_.call_ends(waits, now);
        if (waits && naps_.load(std::memory_order_relaxed) && stretches_.expects_long() &&
            worth_.now()) {
            call();
        }
    }

    /// In a call of the host's, which nobody notes.
    void is_in_host() noexcept
    {
        if (stretches_.in_phase()) [[unlikely]] {
            stretches_.is_inside(now());
        }
    }
    /// Before the thread starts; and when it is to end.
    void begin() noexcept
    {
        alarm_.open();
        ended_.store(false, std::memory_order_relaxed);
    }
    void end() noexcept
    {
        ended_.store(true, std::memory_order_seq_cst);
        alarm_.set(Time(0));
    }

    // --- The thread ------------------------------------------------------------------------------
    /// Sleeps for so long, or until shortly after it is called. Answers whether it was.
    bool nap(std::chrono::nanoseconds time) noexcept
    {
        called_.store(false, std::memory_order_relaxed);
        alarm_.set(time);
        if (ended_.load(std::memory_order_seq_cst)) {
            return true;
        }
        naps_.store(time > soon && alarm_.can_be_set(), std::memory_order_relaxed);
        alarm_.sleep();
        naps_.store(false, std::memory_order_relaxed);
        return called_.load(std::memory_order_relaxed);
    }
    /// Whether the program has left something and computes for a while already.
    [[nodiscard]] bool computes() const noexcept { return stretches_.is_long(now()); }
    /// It has moved something since it was called, or is called again and has not.
    void was_worth(bool moved) noexcept { worth_.slept_again(moved ? Worth::enough : Time(0)); }

private:
    /// The program makes some more calls as a rule.
    static constexpr std::chrono::nanoseconds soon = std::chrono::microseconds(25);

    static Time now() noexcept { return std::chrono::steady_clock::now().time_since_epoch(); }
    void call() noexcept
    {
        naps_.store(false, std::memory_order_relaxed);
        called_.store(true, std::memory_order_relaxed);
        alarm_.set(soon);
    }

    Stretches stretches_;
    Worth worth_;
    Alarm alarm_;
    std::atomic<bool> naps_{false};
    std::atomic<bool> called_{false};
    std::atomic<bool> ended_{false};
};

} // namespace sidelight::host::node
