// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <thread>

#include "host/node/own_thread.hpp"
#include "host/node/wait.hpp"

namespace sidelight::host::node {

/// Moves the engine on while the program computes: a thread that sleeps until somebody rings or a
/// message arrives, sweeps, and sleeps again. It calls nothing of the host. Started and stopped by
/// one thread at a time.
class ProgressThread {
public:
    ~ProgressThread() { stop(); }

    [[nodiscard]] bool runs() const noexcept { return thread_.joinable(); }
    /// Starts it, if it does not run. Answers false, with a word in the log, where there can be no
    /// thread.
    bool start(Waiter& waiter, const OwnThreadWork& work) noexcept;
    /// Returns when it has ended. Does nothing if there is none. Must not hold the engine.
    void stop() noexcept;

private:
    void run() noexcept;
    bool look() noexcept;
    void stand_back() noexcept;

    Waiter* waiter_ = nullptr;
    OwnThreadWork work_;
    std::atomic<bool> stopping_{false}; ///< written by an exchange, which a ring follows
    bool knows_of_more_ = false;        ///< the thread's own: it looks again soon
    std::thread thread_;
};

} // namespace sidelight::host::node
