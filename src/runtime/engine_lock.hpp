// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "base/heavy_barrier.hpp"

namespace sidelight::runtime {

/// Says which thread holds the engine. It has two sides:
///
/// - The program's: its calls and the host's progress loop, which runs in them. While MPI lets one
///   thread of the program call at a time, entering is a plain store and a load, leaving another
///   store and load; there is no atomic instruction.
/// - The helpers': threads of the library's own. A helper that wants in says so and pays for a
///   barrier in all threads of the process (base/heavy_barrier.hpp); then it waits until the
///   program's side is out, which looks for helpers whenever it enters or leaves. Behind a helper
///   for which it had to wait the program's side is next.
///
/// With several threads of the program, or where the kernel has no such barrier, all take one lock
/// that sleeps in the kernel. Protocol: docs/design/progress.md.
class EngineLock {
public:
    /// `barrier`: as own_heavy_barrier.
    explicit EngineLock(bool (*barrier)() noexcept = own_heavy_barrier) noexcept : barrier_(barrier)
    {}

    /// From now on all take the one lock. Nobody may be inside, or be about to enter.
    void share() noexcept { shared_.store(true, std::memory_order_relaxed); }
    /// The same while a thread of the program may be inside, or about to enter: it is waited for.
    /// `told` runs while nobody is inside. False: the kernel refuses its barrier, and all is as
    /// before.
    template <class Tell>
    [[nodiscard]] bool share_beside(Tell told) noexcept
    {
        if (!acquire_as_helper()) {
            return false;
        }
        told();
        share();
        withdraw(Claim::shared);
        unlock();
        return true;
    }
    [[nodiscard]] bool shared() const noexcept { return shared_.load(std::memory_order_relaxed); }

    // --- The program's side ----------------------------------------------------------------------
    void acquire() noexcept
    {
        if (shared()) [[unlikely]] {
            lock();
            return;
        }
        step_in();
        if (!is_claimed()) [[likely]] {
            return;
        }
        give_way();
    }

    /// The same where it is not shared, for calls of some nanoseconds: never waits. If it answers
    /// no, a helper wants in, and nothing may be done but `release_unshared`.
    [[nodiscard]] bool acquire_unclaimed() noexcept
    {
        step_in();
        return !is_claimed();
    }

    /// Never waits; refuses also the thread that holds it: the host's loop may be entered by a call
    /// that does.
    [[nodiscard]] bool try_acquire() noexcept;

    void release() noexcept
    {
        if (shared()) [[unlikely]] {
            unlock();
            return;
        }
        release_unshared();
    }

    /// The same where it is not shared.
    void release_unshared() noexcept
    {
        inside_.store(0, std::memory_order_release); // pairs with the acquire in acquire_as_helper
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (is_claimed()) [[unlikely]] {
            let_in();
        }
    }

    // --- The helpers' side -----------------------------------------------------------------------
    /// Waits for the program's side, which it keeps out from then on. False: the kernel refuses its
    /// barrier, and the helper has to stay out.
    [[nodiscard]] bool acquire_as_helper() noexcept;
    void release_as_helper() noexcept;

    /// For one helper, which does not hold it: whether the program's side has come by since the
    /// helper has left, or called `watch` last; that costs that side one look. Always false where
    /// all take the one lock.
    void watch() noexcept;
    [[nodiscard]] bool is_visited() const noexcept
    {
        return !shared() && (claim_.load(std::memory_order_relaxed) != Claim::watching ||
                             gives_way_.load(std::memory_order_relaxed) != 0);
    }

private:
    enum class Claim : std::uint32_t {
        none,
        watching, ///< the program's side takes it away when it comes by
        entering, ///< a helper holds the lock, or waits for the program's side to leave
        shared,   ///< for ever: whoever has not seen it before has to take the one lock
    };
    static constexpr std::uint32_t free = 0;
    static constexpr std::uint32_t held = 1;
    static constexpr std::uint32_t contended = 2;

    /// The side of the exchange that has no barrier: the claim is loaded after it.
    void step_in() noexcept
    {
        inside_.store(1, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    /// The acquire pairs with the release of whoever was a helper last.
    [[nodiscard]] bool is_claimed() const noexcept
    {
        return claim_.load(std::memory_order_acquire) != Claim::none;
    }
    [[nodiscard]] bool is_entered() noexcept;
    void step_out() noexcept;
    void let_in() noexcept;
    void give_way() noexcept;
    void let_program_in() noexcept;
    void withdraw(Claim to) noexcept;

    void lock() noexcept
    {
        if (!try_lock()) {
            lock_slowly();
        }
    }
    [[nodiscard]] bool try_lock() noexcept
    {
        std::uint32_t seen = free;
        return state_.compare_exchange_strong(seen, held, std::memory_order_acquire);
    }
    void lock_slowly() noexcept;
    void wake_one() noexcept;
    void unlock() noexcept
    {
        if (state_.exchange(free, std::memory_order_release) == contended) {
            wake_one();
        }
    }

    alignas(64) std::atomic<std::uint32_t> inside_{0}; ///< written by the program's side alone
    std::atomic<Claim> claim_{Claim::none};            ///< by one helper; `watching` ends by both
    std::atomic<std::uint32_t> state_{free}; ///< the one lock; among helpers where it is not shared
    std::atomic<std::uint32_t> gives_way_{0}; ///< the program's side sleeps until a helper is out
    /// Set while nobody is inside. Relaxed: who steps in without having seen it finds the claim.
    std::atomic<bool> shared_{false};
    bool (*barrier_)() noexcept;
};

} // namespace sidelight::runtime
