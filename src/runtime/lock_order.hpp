// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "runtime/waiting.hpp"

namespace sidelight::runtime {

/// Locks that blocking calls take on several windows are taken in the order of the calls, though
/// such a call does not wait for its own: the next one waits for it, if it is still open, and for
/// no other. Else processes that all lock in one order could wait for one another in a circle. Not
/// used in programs with threads, where a blocking call waits for its lock.
class LockOrder {
public:
    explicit LockOrder(Waiting& waiting) noexcept : waiting_(waiting) {}

    /// A blocking call that has settled has asked for that lock, or for all: `all_targets`. Holds
    /// the engine.
    static void remember(rma::Window& window, int target) noexcept
    {
        granted_ = {};
        open_ = window.await_grant(target, &granted_) == Status::ok && !granted_.complete;
    }
    /// Whether a blocking call that asks for a lock has to `settle` first.
    [[nodiscard]] static bool is_open() noexcept { return open_; }
    /// Waits for the lock that was asked for last. Must not hold the engine.
    void settle() noexcept
    {
        if (std::exchange(open_, false)) [[unlikely]] {
            waiting_.wait(granted_);
        }
    }

private:
    // Of the program's only thread; the engine, which a helper may hold, completes the request.
    static inline bool open_ = false;
    static inline BlockingRequest granted_; ///< completes with the grant of the lock

    Waiting& waiting_;
};

} // namespace sidelight::runtime
