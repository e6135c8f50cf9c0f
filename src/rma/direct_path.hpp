// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.hpp"
#include "base/cpu.hpp"
#include "rma/window.hpp"

namespace sidelight::rma {

/// The path that must be as fast as the machine: an operation on mapped memory in an epoch that is
/// active and granted, with nothing recorded before it. Anything else answers "no" (null, false)
/// and goes the long way through Window::issue, which finds the error if there is one.
///
/// Threads: needs no engine lock. It reads what only opening and closing calls of the same epoch
/// write, and MPI forbids those at the same time.
struct Direct {
    /// The address of `bytes` bytes, 1 to 2^63 - 1, at the displacement in the target's memory, if
    /// they may be accessed now and lie inside its window. In a dynamic window, where displacements
    /// are addresses of the target: in the region that was used last, if it is still attached. A
    /// granted fence epoch lets operations reach every mapped target.
    [[nodiscard, gnu::always_inline]] static std::byte*
    memory(const Window& window, int rank, std::int64_t displacement, std::uint64_t bytes) noexcept
    {
        if (static_cast<std::uint32_t>(rank) >= window.members_) [[unlikely]] {
            return nullptr;
        }
        const Target& target = window.first_target_[rank];
        const std::uint64_t reach = target.reach.load(std::memory_order_acquire);
        if (reach != 0) {
            return mapped(target, displacement, bytes, reach);
        }
        const auto address = static_cast<std::uint64_t>(displacement);
        if (std::byte* found = target.latest.at(address, bytes); found != nullptr) [[likely]] {
            return found;
        }
        return window.direct_all_.load(std::memory_order_acquire)
                   ? open_to_all(window, target, displacement, bytes)
                   : nullptr;
    }

    /// Plain loads or stores were made: the next flush needs a barrier.
    static void made_plain_access(Window& window) noexcept
    {
        window.used_.store(true, relaxed);
        window.unfenced_.store(true, relaxed);
    }

    /// A locked instruction was made, which orders itself.
    static void made_atomic_access(Window& window) noexcept
    {
        window.used_.store(true, relaxed);
        if constexpr (!rmw_is_barrier) {
            window.unfenced_.store(true, relaxed);
        }
    }

    /// The scope of an atomic access to one element of a member that `memory` has found.
    [[nodiscard, gnu::always_inline]] static ElementAccess element(Window& window,
                                                                   int rank) noexcept
    {
        ElementSlot* slot = window.direct_slot_;
        return ElementAccess(window.first_target_[rank].control->rows,
                             slot != nullptr ? slot : window.element_slot(),
                             static_cast<std::uint32_t>(rank) + 1);
    }

    /// A flush of a target whose operations are all complete when they are issued.
    [[nodiscard]] static bool flush(Window& window, int rank) noexcept
    {
        if (static_cast<std::uint32_t>(rank) >= window.members_ ||
            !window.first_target_[rank].flushable.load(std::memory_order_acquire)) [[unlikely]] {
            return false;
        }
        order(window);
        return true;
    }

    /// The same for a local flush, which orders nothing.
    [[nodiscard]] static bool flush_local(const Window& window, int rank) noexcept
    {
        return static_cast<std::uint32_t>(rank) < window.members_ &&
               window.first_target_[rank].flushable.load(std::memory_order_acquire);
    }

    /// A lock that is free, of a member on this node, with no epoch before it. Operations on mapped
    /// memory are then complete when they return, so nothing would ever be recorded in an epoch,
    /// and none is made: the place in the lock's queue is all there is. An operation that has to
    /// travel makes the epoch later (Window::weigh). Unlike the calls above it needs the engine.
    [[nodiscard]] static bool lock(Window& window, int rank, LockType type) noexcept
    {
        if (static_cast<std::uint32_t>(rank) >= window.members_ || window.pending_ != 0) {
            return false;
        }
        Target& target = window.first_target_[rank];
        if (target.control == nullptr || target.light != Light::none || target.lost ||
            !target.control->lock.try_arrive(type)) {
            return false;
        }
        target.light = Light::lock;
        target.light_type = type;
        window.open_target(target, true, true);
        ++window.locks_open_;
        return true;
    }

    /// Ends one that `lock` has taken. Needs the engine. Refused while an origin that asks by
    /// messages waits for this member's own lock: it would be sent its grant, and nobody pushes
    /// here.
    [[nodiscard]] static bool unlock(Window& window, int rank) noexcept
    {
        return rules::may_admit_unpushed(!window.waiting_.empty()) && leave_lock(window, rank);
    }

    /// The same for who pushes afterwards: those who wait by messages are told.
    [[nodiscard]] static bool leave_lock(Window& window, int rank) noexcept
    {
        if (static_cast<std::uint32_t>(rank) >= window.members_ ||
            window.first_target_[rank].light != Light::lock) {
            return false;
        }
        Target& target = window.first_target_[rank];
        target.light = Light::none;
        window.open_target(target, false, false);
        window.waited_for_ = window.ages_;
        --window.locks_open_;
        if (target.control->lock.depart(target.light_type)) [[unlikely]] {
            window.wake_members();
            window.grant_waiting();
        }
        return true;
    }

    /// A fence between two fence epochs, with nothing recorded in the first and no other epoch
    /// pending, where all members pass the barrier within `polls` polls: the epoch stays the same
    /// object and goes on as the next one. Answers false if they do not, having announced this
    /// member; Window::fence then takes it from there. Needs the engine.
    [[nodiscard]] static bool fence(Window& window, int polls) noexcept
    {
        Epoch* epoch = window.fence_;
        if (epoch == nullptr || window.pending_ != 1 ||
            !window.direct_all_.load(std::memory_order_relaxed) || !window.one_node_ ||
            window.unfinished_ != 0 || window.untold_ != 0) {
            return false;
        }
        const std::uint64_t number = window.barriers_ + 1;
        window.barrier_.arrive(number);
        while (!window.barrier_.passed(number)) {
            if (--polls < 0) {
                return false;
            }
            relax_cpu();
        }
        window.barriers_ = number;
        window.waited_for_ = window.ages_;
        epoch->barrier_in = number;
        epoch->opened_at = ++window.clock_;
        window.used_.store(false, relaxed);
        return true;
    }

private:
    /// Among the first `reach` bytes of its memory.
    [[gnu::always_inline]] static std::byte* mapped(const Target& target, std::int64_t displacement,
                                                    std::uint64_t bytes,
                                                    std::uint64_t reach) noexcept
    {
        std::int64_t signed_offset = 0;
        if (__builtin_mul_overflow(displacement, static_cast<std::int64_t>(target.disp_unit),
                                   &signed_offset)) [[unlikely]] {
            return nullptr;
        }
        const auto offset = static_cast<std::uint64_t>(signed_offset); // negative: out of reach
        if (offset >= reach || bytes > reach - offset) [[unlikely]] {
            return nullptr;
        }
        std::byte* found = target.base + offset;
        if (found == nullptr) {
            __builtin_unreachable(); // spares the callers a test
        }
        return found;
    }

    /// In a granted fence epoch.
    [[gnu::always_inline]] static std::byte* open_to_all(const Window& window, const Target& target,
                                                         std::int64_t displacement,
                                                         std::uint64_t bytes) noexcept
    {
        if (target.regions != nullptr) {
            return window.direct_regions_
                       ? target.latest.known_at(static_cast<std::uint64_t>(displacement), bytes)
                       : nullptr;
        }
        return mapped(target, displacement, bytes, target.mapped ? target.size : 0);
    }

    static void order(Window& window) noexcept
    {
        if (window.unfenced_.load(relaxed)) [[likely]] {
            full_barrier();
            window.unfenced_.store(window.never_fenced_, relaxed);
        }
    }
};

} // namespace sidelight::rma
