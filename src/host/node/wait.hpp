// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>

#include "base/doorbell.hpp"

namespace sidelight::host::node {

/// How a blocking call waits: it polls, at first without a pause; then it gives its core away and
/// sleeps at its doorbell. Any number of threads may wait at once. See docs/design/progress.md.
class Waiter {
public:
    /// The doorbell must outlive it.
    explicit Waiter(Doorbell& bell) noexcept;

    /// There are that many ranks on this process's cores. The largest number counts.
    void learn_neighbours(int ranks) noexcept;
    /// Whether ranks outnumber cores: then spinning only keeps others from running.
    [[nodiscard]] bool crowded() const noexcept { return crowded_.load(std::memory_order_relaxed); }

    /// Returns when `poll` answers true: one sweep of the engine, and whether what the caller waits
    /// for has happened. Lets the host progress all the while.
    void wait(bool (*poll)(void* context) noexcept, void* context) noexcept;

    /// The same in steps, for a wait whose loop is not ours: called after each poll that answered
    /// false, it returns at once at first, and later sleeps, each time for as long at most as
    /// whatever else the caller waits for may be late. A thread that does other things in between
    /// starts anew.
    void pause(bool (*poll)(void* context) noexcept, void* context) noexcept;

    /// After a sweep that may have completed what another thread of this process waits for.
    /// Nobody asleep: one load.
    void rouse() noexcept { bell_.ring(); }

private:
    /// What came of a nap: whether its one poll answered true, and whether somebody rang.
    struct Nap {
        bool polled;
        bool rung;
    };
    Nap nap(bool (*poll)(void*) noexcept, void* context, std::chrono::nanoseconds limit) noexcept;
    bool spin(bool (*poll)(void*) noexcept, void* context) noexcept;
    bool yield(bool (*poll)(void*) noexcept, void* context) noexcept;

    Doorbell& bell_;
    std::atomic<bool> crowded_{false}; ///< set once; relaxed: a late reader only spins longer
};

} // namespace sidelight::host::node
