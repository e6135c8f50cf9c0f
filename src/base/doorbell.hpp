// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/cpu.hpp"
#include "base/interest.hpp"
#include "base/shared_memory.hpp"

namespace sidelight {

/// Where the threads of one process sleep, and where any process that maps it wakes them.
/// Zeroed memory is a doorbell at which nobody sleeps. Protocol: docs/design/waiting.md.
///
///     sleeper                               waker
///     visit = bell.enter();                 write the word, atomically
///     if (still nothing to do)              bell.ring();
///         bell.sleep(visit, time_limit);
///     bell.leave(visit);
class Doorbell {
public:
    /// The number of rings before a sleeper came; a ring after that is one for it.
    struct Visit {
        std::uint32_t rings = 0;
    };

    /// Announces a sleeper. A full barrier: whoever enters and then finds a word unwritten is seen
    /// by the `ring` that follows the write.
    [[nodiscard]] Visit enter() noexcept
    {
        const std::uint64_t before = state_.fetch_add(one_sleeper, std::memory_order_seq_cst);
        full_barrier();
        return {rings(before)};
    }

    /// Sleeps until a ring after `enter`, or for `limit`, or, rarely, for no reason.
    void sleep(Visit visit, std::chrono::nanoseconds limit) noexcept;

    /// Whether anybody has entered whom no ring has answered yet. Who has entered sees it.
    [[nodiscard]] bool is_slept_at() const noexcept
    {
        return sleepers(state_.load(std::memory_order_relaxed)) != 0;
    }

    /// Ends the visit. Answers whether there was a ring.
    bool leave(Visit visit) noexcept;

    /// The owner: a ring is also heard at that pipe, while a sleeper says so by `use_pipe`. Once.
    void lay_pipe(const MemoryFileAddress& pipe) noexcept { pipe_ = pipe; }
    /// The owner: one of its threads is about to enter and to sleep at the pipe; or has left.
    void use_pipe(bool sleeping) noexcept { at_pipe_.store(sleeping, std::memory_order_release); }

    /// The owner: whether all who sleep here have a lingering look first, after they have entered
    /// and for as long as a store may take to reach them, and sleep for a millisecond at most.
    /// From then on a plain store is enough before the ring that `publish` makes.
    void let_linger(bool lingering) noexcept
    {
        lingering_.store(lingering, std::memory_order_relaxed);
    }
    [[nodiscard]] bool lingering() const noexcept
    {
        return lingering_.load(std::memory_order_relaxed);
    }
    static constexpr std::chrono::microseconds linger_time{10};

    /// Releases everything before it with a word that the sleepers wait for and that nobody else
    /// writes, and wakes them. Where they linger this does not wait for the word to leave the core.
    /// `event`: what that is to a process which computes.
    void publish(std::atomic<std::uint64_t>& word, std::uint64_t value,
                 const Event& event = {}) noexcept
    {
        if (lingering()) [[likely]] {
            word.store(value, std::memory_order_release);
            ring_stored(event);
        } else {
            word.exchange(value, std::memory_order_seq_cst);
            ring(event);
        }
    }

    /// The same after plain stores that the caller has made, or somebody for it. Unless the
    /// sleepers linger a full barrier comes between.
    void ring_stored(const Event& event = {}) noexcept
    {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        ring_if_slept_at();
        tell(event);
    }

    /// Wakes all who have entered. Comes after an atomic read-modify-write of the word that they
    /// wait for. While nobody sleeps: one load.
    void ring(const Event& event = {}) noexcept
    {
        if constexpr (!rmw_is_barrier) {
            full_barrier();
        }
        // Pairs with `enter`: of the two sides, each of which writes and then reads, one sees the
        // other.
        ring_if_slept_at();
        tell(event);
    }

    /// What the owner wants to be called for while it does not sleep here. Who asks for anything
    /// does not linger.
    [[nodiscard]] Interest& interest() noexcept { return interest_; }
    /// The owner: its thread is to come, whatever it wants.
    void summon() noexcept
    {
        if (interest_.summon() == Interest::Told::at_pipe) {
            ring_pipe_of_thread();
        }
    }

private:
    static constexpr std::uint64_t one_sleeper = 1;
    static constexpr std::uint64_t one_ring = std::uint64_t{1} << 32;

    static constexpr std::uint32_t sleepers(std::uint64_t state) noexcept
    {
        return static_cast<std::uint32_t>(state);
    }
    static constexpr std::uint32_t rings(std::uint64_t state) noexcept
    {
        return static_cast<std::uint32_t>(state >> 32);
    }

    void ring_if_slept_at() noexcept
    {
        const std::uint64_t now = state_.load(std::memory_order_relaxed);
        if (sleepers(now) != 0) [[unlikely]] {
            wake(now);
        }
    }

    void tell(const Event& event) noexcept
    {
        if (interest_.tell(event) == Interest::Told::at_pipe) [[unlikely]] {
            ring_pipe_of_thread();
        }
    }

    void wake(std::uint64_t seen) noexcept;
    void ring_pipe_of_thread() noexcept;

    /// Low half: sleepers that no ring has answered yet, so that of many rings in a row one makes
    /// the system call. High half: rings that did, which is the word that the kernel compares.
    alignas(64) std::atomic<std::uint64_t> state_{0};
    MemoryFileAddress pipe_; ///< set before `at_pipe_` for the first time
    /// Stored before `enter`, so who sees the sleeper in `state_` sees this.
    std::atomic<bool> at_pipe_{false};
    std::atomic<bool> lingering_{false};
    Interest interest_;
};

} // namespace sidelight
