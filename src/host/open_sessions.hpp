// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <mutex>

namespace sidelight::host {

/// The sessions of this process that the host has open, for a library that has something to close
/// while MPI is still there. Threads may begin and end sessions at once, and the world beside them:
/// one of them ends the last, and closes before the host hears of that end; what begins meanwhile
/// is used when that is over. The functions that it is given run one at a time, and none of the
/// host's calls that begin or end anything may be among them.
class OpenSessions {
public:
    /// Any thread. Relaxed: only who begins and ends sessions would have it otherwise.
    [[nodiscard]] bool any() const noexcept { return count_.load(std::memory_order_relaxed) > 0; }

    /// The host has begun one, which the program does not have yet.
    template <class Learn>
    void begin(Learn learn) noexcept
    {
        const std::scoped_lock lock(mutex_);
        add(1);
        learn();
    }

    /// The host is about to end one. `close(last)`: whether neither another one nor the world goes
    /// on; `world_is_up` may be true until the host's MPI_Finalize is over.
    template <class Close>
    void end(bool world_is_up, Close close) noexcept
    {
        const std::scoped_lock lock(mutex_);
        add(-1);
        close(!any() && (world_has_ended_ || !world_is_up));
    }

    /// Behind the host's call, for which `end` was called. `go_on` is for one that is refused.
    template <class GoOn>
    void ended(bool refused, GoOn go_on) noexcept
    {
        const std::scoped_lock lock(mutex_);
        if (refused) {
            add(1);
            go_on();
        } else if (count_.load(std::memory_order_relaxed) < 0) {
            add(1); // it had begun before the library was loaded
        }
    }

    /// The host is about to end the world. `close(last)` as above.
    template <class Close>
    void end_world(Close close) noexcept
    {
        const std::scoped_lock lock(mutex_);
        world_has_ended_ = true;
        close(!any());
    }

    /// `visit(any)`: beside it none begins or ends.
    template <class Visit>
    void hold(Visit visit) noexcept
    {
        const std::scoped_lock lock(mutex_);
        visit(any());
    }

private:
    void add(int change) noexcept { count_.fetch_add(change, std::memory_order_relaxed); }

    std::mutex mutex_;
    std::atomic<int> count_{0};    ///< written with the mutex
    bool world_has_ended_ = false; ///< guarded by it
};

} // namespace sidelight::host
