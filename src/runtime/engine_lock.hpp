// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "rma/process.hpp"

namespace sidelight::runtime {

/// Says which thread holds the engine. Under MPI_THREAD_MULTIPLE a lock that sleeps in the kernel;
/// with less, a mark that costs two plain stores and keeps the host's progress loop, when a call of
/// ours has entered it, from sweeping the engine a second time.
class EngineLock {
public:
    explicit EngineLock(rma::Process& process) noexcept : process_(process) {}

    [[nodiscard]] rma::Process& process() noexcept { return process_; }
    void set_threaded(bool threaded) noexcept { threaded_ = threaded; }
    [[nodiscard]] bool threaded() const noexcept { return threaded_; }

    void acquire() noexcept
    {
        if (!threaded_) {
            state_.store(held, std::memory_order_relaxed);
            return;
        }
        std::uint32_t seen = free;
        if (!state_.compare_exchange_strong(seen, held, std::memory_order_acquire)) {
            acquire_slowly();
        }
    }

    /// Never waits; refuses also the thread that holds it.
    [[nodiscard]] bool try_acquire() noexcept
    {
        std::uint32_t seen = free;
        return state_.compare_exchange_strong(seen, held, std::memory_order_acquire);
    }

    void release() noexcept
    {
        if (!threaded_) {
            state_.store(free, std::memory_order_relaxed);
        } else if (state_.exchange(free, std::memory_order_release) == contended) {
            state_.notify_one();
        }
    }

private:
    static constexpr std::uint32_t free = 0;
    static constexpr std::uint32_t held = 1;
    static constexpr std::uint32_t contended = 2;

    void acquire_slowly() noexcept
    {
        while (state_.exchange(contended, std::memory_order_acquire) != free) {
            state_.wait(contended, std::memory_order_relaxed);
        }
    }

    rma::Process& process_;
    std::atomic<std::uint32_t> state_{free};
    bool threaded_ = false; ///< set while one thread only is inside
};

/// Holds the engine for a scope, and lets what was sent there leave at its end.
class EngineGuard {
public:
    explicit EngineGuard(EngineLock& lock) noexcept : lock_(lock) { lock_.acquire(); }
    ~EngineGuard()
    {
        lock_.process().push();
        lock_.release();
    }
    EngineGuard(const EngineGuard&) = delete;
    EngineGuard& operator=(const EngineGuard&) = delete;

private:
    EngineLock& lock_;
};

} // namespace sidelight::runtime
