// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <utility>

#include "base/alarm.hpp"
#include "base/stretches.hpp"

namespace sidelight::host::node {

/// How the interrupt thread, which naps while the program calls again and again, is called back
/// when the program leaves work to be done and computes. Where the program has threads nobody
/// calls it. See docs/design/standing-back.md.
class Recall {
public:
    // --- The program, in its calls ---------------------------------------------------------------
    void came() noexcept
    {
        stretches_.call_begins(now);
        if (watched_.load(std::memory_order_relaxed)) [[unlikely]] {
            called_.store(false, std::memory_order_relaxed); // it has left the host, and goes on
        }
    }
    /// `waits`: a window waits for something, with which this or another process goes on.
    void leaves(bool waits) noexcept
    {
        stretches_.call_ends(waits, now);
        if (waits && naps_.load(std::memory_order_relaxed) && stretches_.expects_long() &&
            worth_.now()) {
            call();
        }
    }

    /// The program has called the host, and nobody notes the end of that call: who does not come
    /// again for a while has left it. One thread at a time.
    void is_in_host() noexcept
    {
        const bool watched = watched_.load(std::memory_order_relaxed);
        if (!watched && !stretches_.in_phase()) [[likely]] {
            return;
        }
        const Time time = now();
        if (stretches_.in_phase()) {
            stretches_.is_inside(time);
        }
        if (watched && time - put_off_.load(std::memory_order_relaxed) >= behind_host / 2) {
            put_off_.store(time, std::memory_order_relaxed);
            called_.store(true, std::memory_order_relaxed);
            alarm_.set(behind_host);
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
    bool nap(Time time) noexcept
    {
        called_.store(false, std::memory_order_relaxed);
        by_call_.store(false, std::memory_order_relaxed);
        alarm_.set(time);
        if (ended_.load(std::memory_order_seq_cst)) {
            return true;
        }
        const bool may_end = time > soon && alarm_.can_be_set();
        naps_.store(may_end, std::memory_order_relaxed);
        watched_.store(may_end && worth_behind_host_.now(), std::memory_order_relaxed);
        const Time put_off = put_off_.load(std::memory_order_relaxed);
        alarm_.sleep();
        naps_.store(false, std::memory_order_relaxed);
        watched_.store(false, std::memory_order_relaxed);
        const bool called = called_.load(std::memory_order_relaxed);
        const bool by_call = called && by_call_.load(std::memory_order_relaxed);
        if (!by_call && put_off_.load(std::memory_order_relaxed) != put_off) {
            called ? note_recall(worth_behind_host_) : worth_behind_host_.slept_again(Time(0));
        } else if (called) {
            note_recall(worth_);
        }
        return called;
    }
    /// Whether the program has left something and computes for a while already.
    [[nodiscard]] bool computes() const noexcept { return stretches_.is_long(now()); }
    /// It has moved something: that was worth the latest recall.
    void has_moved() noexcept
    {
        if (Worth* worth = std::exchange(unproven_, nullptr); worth != nullptr) {
            worth->slept_again(Worth::enough);
        }
    }

private:
    /// The program makes some more calls as a rule.
    static constexpr Time soon = std::chrono::microseconds(25);
    /// Between two turns of a host's loop there may be a sleep, or some work.
    static constexpr Time behind_host = std::chrono::microseconds(100);

    void call() noexcept
    {
        naps_.store(false, std::memory_order_relaxed);
        watched_.store(false, std::memory_order_relaxed);
        by_call_.store(true, std::memory_order_relaxed);
        called_.store(true, std::memory_order_relaxed);
        alarm_.set(soon);
    }
    /// The one before has moved nothing, if it is unproven still.
    void note_recall(Worth& reason) noexcept
    {
        if (unproven_ != nullptr) {
            unproven_->slept_again(Time(0));
        }
        unproven_ = &reason;
    }

    Stretches stretches_;
    Worth worth_;             ///< to call it when the program leaves work,
    Worth worth_behind_host_; ///< and when it has left the host
    Alarm alarm_;
    Worth* unproven_ = nullptr;        ///< of the latest recall, which has moved nothing yet
    std::atomic<Time> put_off_{};      ///< when the end of a nap was, last
    std::atomic<bool> naps_{false};    ///< and a call that leaves work may end it
    std::atomic<bool> watched_{false}; ///< the end of a call of the host's may
    std::atomic<bool> called_{false};
    std::atomic<bool> by_call_{false}; ///< that leaves work
    std::atomic<bool> ended_{false};
};

} // namespace sidelight::host::node
