// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include "base/alarm.hpp"
#include "base/stretches.hpp"
#include "messages/calls.hpp"
#include "messages/idle_request.hpp"
#include "messages/live_requests.hpp"
#include "messages/pace.hpp"
#include "messages/presence.hpp"

namespace sidelight::messages {

/// What else decides whether the thread may call the host. The program changes them in calls,
/// before what they are about can happen.
struct Conditions {
    std::atomic<bool> program_has_threads{false};
    std::atomic<bool> calls_back{false};
    std::atomic<bool> wanted{true};

    /// Whether a step may be allowed, if not now. Sequentially consistent: whoever makes it true,
    /// or starts a request, does that before he looks at the other one.
    [[nodiscard]] bool allow_steps() const noexcept
    {
        return wanted.load(std::memory_order_seq_cst) &&
               !calls_back.load(std::memory_order_relaxed);
    }
};

/// What the thread has done so far. Written by it alone; anybody may read.
struct StepCounts {
    std::atomic<std::uint64_t> wakes{0}; ///< out of a sleep for good
    std::atomic<std::uint64_t> looks{0}; ///< at whether the host could use a step
    std::atomic<std::uint64_t> steps{0};
    std::atomic<std::uint64_t> moved{0}; ///< steps that have moved something
    std::atomic<std::uint64_t> found{0}; ///< requests that were complete after one
    std::atomic<std::uint64_t> busy_ns{0};
};

/// Gives the host one step of progress after the other while the program computes and has large
/// requests under way (P4, chapters 3 and 4). See docs/design/message-thread.md.
class MessageThread {
public:
    MessageThread(Presence& presence, LiveRequests& requests, const Stretches& stretches,
                  Conditions& conditions, AskStatus* status, ThreadCalls below) noexcept
        : presence_(presence),
          requests_(requests),
          stretches_(stretches),
          conditions_(conditions),
          status_(status),
          below_(below)
    {}

    /// A request is under way that was not, or steps are wanted that were not. Starts the thread
    /// where there is none; by a thread of the program.
    void wake() noexcept
    {
        if (!conditions_.allow_steps()) [[unlikely]] {
            return;
        }
        const Time left = has_stretches() && worth_.now() ? left_of_long_nap() : Time(0);
        if (asleep_.load(std::memory_order_seq_cst) || left > Pace::soon_enough) [[unlikely]] {
            rouse();
        } else if (left != Time(0)) {
            roused_.store(true, std::memory_order_relaxed); // as if it were cut short
        }
    }
    /// Returns when it has ended; the next request starts another one. Nobody else may call.
    void stop() noexcept;
    /// There is no thread in a child, whatever its parent has.
    void forget() noexcept;

    [[nodiscard]] const StepCounts& counts() const noexcept { return counts_; }

private:
    /// Several threads of a program have none in common, and each wake takes the core from one of
    /// them.
    [[nodiscard]] bool has_stretches() const noexcept
    {
        return stretches_.expects_long() &&
               !conditions_.program_has_threads.load(std::memory_order_relaxed);
    }
    [[nodiscard]] Time left_of_long_nap() const noexcept
    {
        const Time end = nap_ends_.load(std::memory_order_relaxed);
        return end == Time(0) ? end : end - now();
    }
    [[nodiscard]] bool has_work() const noexcept
    {
        return requests_.live() != 0 && conditions_.allow_steps();
    }
    void rouse() noexcept;
    void start() noexcept;
    void run() noexcept;
    bool rest(Time pause) noexcept;
    void sleep_for_good() noexcept;
    void begin() noexcept;
    [[nodiscard]] std::optional<Time> look() noexcept;
    [[nodiscard]] Time step() noexcept;
    [[nodiscard]] bool may_step() const noexcept;

    Presence& presence_;
    LiveRequests& requests_;
    const Stretches& stretches_;
    Conditions& conditions_;
    AskStatus* const status_;
    const ThreadCalls below_;

    std::uint64_t visits_ = 0; ///< of the program, when the thread looked last
    IdleRequest idle_;
    Motion motion_;
    Time moved_{}; ///< how long steps took that moved something, since the thread was woken
    Worth worth_;
    Pace pace_;
    StepCounts counts_;

    Alarm alarm_; ///< at which the thread sleeps
    std::atomic<bool> stopping_{false};
    std::atomic<bool> roused_{false};
    std::atomic<bool> asleep_{true}; ///< for good, or there is no thread
    std::atomic<Time> nap_ends_{};   ///< zero: it takes no long one
    std::mutex mutex_;               ///< guards what follows
    std::thread thread_;
    unsigned starts_to_pass_ = 0; ///< of requests, before another thread is asked for
};

} // namespace sidelight::messages
