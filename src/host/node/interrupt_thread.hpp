// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "host/node/own_thread.hpp"
#include "host/node/recall.hpp"
#include "host/node/wait.hpp"

namespace sidelight::host::node {

/// What an interrupt thread has done so far. Written by it alone; anybody may read.
struct InterruptCounts {
    std::atomic<std::uint64_t> calls{0};    ///< wakes by an event that was asked for
    std::atomic<std::uint64_t> messages{0}; ///< wakes by the network
    std::atomic<std::uint64_t> futile{0};   ///< wakes of both kinds that have found nothing to do
    std::atomic<std::uint64_t> naps{0};     ///< looks by the clock, while the program calls
    std::atomic<std::uint64_t> delay_ns{0}; ///< from calls until it ran, added up
    std::atomic<std::uint64_t> longest_ns{0};
    std::atomic<std::uint64_t> busy_ns{0}; ///< in the engine
};

/// Moves the engine on while the program computes, when there is something to move: a thread that
/// sleeps until what the process has asked for happens (base/interest.hpp) or a message comes, and
/// that nobody wakes while the program looks after things itself. P4's interrupt thread. It calls
/// nothing of the host. Started and stopped by one thread at a time.
class InterruptThread {
public:
    ~InterruptThread() { stop(); }

    [[nodiscard]] bool runs() const noexcept { return thread_.joinable(); }
    /// Starts it, if it does not run. Answers false, with a word in the log, where there can be no
    /// thread.
    bool start(Waiter& waiter, Recall& recall, const OwnThreadWork& work) noexcept;
    /// Returns when it has ended. Does nothing if there is none. Must not hold the engine.
    void stop() noexcept;

    [[nodiscard]] const InterruptCounts& counts() const noexcept { return counts_; }

private:
    void run() noexcept;
    void answer(Roused by) noexcept;
    [[nodiscard]] bool must_look() noexcept;
    bool sweep() noexcept;
    void stand_back() noexcept;

    Waiter* waiter_ = nullptr;
    Recall* recall_ = nullptr;
    OwnThreadWork work_;
    std::atomic<bool> stopping_{false}; ///< written before a summons
    bool knows_of_more_ = false;        ///< the thread's own: it looks again soon
    InterruptCounts counts_;
    std::thread thread_;
};

} // namespace sidelight::host::node
