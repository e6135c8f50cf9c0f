// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "base/bytes.hpp"
#include "base/cpu.hpp"
#include "rma/operation/reach.hpp"

namespace sidelight::rma {

inline constexpr auto relaxed = std::memory_order_relaxed;

/// The path that must be as fast as the machine: operations on mapped memory in an epoch that is
/// active and granted, with nothing recorded before them. Anything else is answered "no" (null,
/// false) and goes the long way through Window::issue, which finds the error if there is one.
///
/// Threads: what the operations call needs no engine, so it can send nothing. It reads what only
/// opening and closing calls of the same epoch write, and MPI forbids those at the same time. What
/// the epochs call needs the engine.
class Mapped {
public:
    // --- For operations and flushes, without the engine ------------------------------------------
    /// The address of `bytes` bytes, 1 to 2^63 - 1, at the displacement in the target's memory, if
    /// they may be accessed now and lie inside its window. In a dynamic window, where displacements
    /// are addresses of the target: in the region that was used last, if it is still attached. A
    /// granted fence epoch lets operations reach every mapped target.
    [[nodiscard, gnu::always_inline]] std::byte* memory(int rank, std::int64_t displacement,
                                                        std::uint64_t bytes) noexcept
    {
        if (static_cast<std::uint32_t>(rank) >= members_) [[unlikely]] {
            return region_ != nullptr ? in_region(*region_, targets_, rank, displacement, bytes)
                                      : nullptr;
        }
        const Target& target = targets_[rank];
        const std::uint64_t reach = target.reach.load(std::memory_order_acquire);
        if (reach != 0) [[likely]] {
            return within(target, displacement, bytes, reach);
        }
        const auto address = static_cast<std::uint64_t>(displacement);
        if (std::byte* found = target.latest.at(address, bytes); found != nullptr) [[likely]] {
            return found;
        }
        return all_open_.load(std::memory_order_acquire) ? open_to_all(target, displacement, bytes)
                                                         : nullptr;
    }

    /// Whether active messages to a member that `memory` has found may run beside others.
    [[nodiscard]] bool is_concurrent(int rank) const noexcept
    {
        return targets_[rank].reach.load(relaxed) != 0 ? targets_[rank].concurrent.load(relaxed)
                                                       : all_concurrent_.load(relaxed);
    }

    /// Plain loads or stores were made: the next flush needs a barrier. Where threads call each has
    /// one, and nothing is written that others read.
    void made_plain_access() noexcept
    {
        if (!unfenced_.load(relaxed)) {
            unfenced_.store(true, relaxed);
        }
    }

    /// A locked instruction was made, which orders itself.
    void made_atomic_access() noexcept { rmw_is_barrier ? void() : made_plain_access(); }

    /// The scope of an atomic access to one element of a member that `memory` has found.
    [[nodiscard, gnu::always_inline]] ElementAccess element(int rank) noexcept
    {
        ElementSlot* slot = slot_;
        return ElementAccess(targets_[rank].accumulates->rows,
                             slot != nullptr ? slot : accumulates_->slot(),
                             static_cast<std::uint32_t>(rank) + 1);
    }

    /// The lock of the rows of elements of a member that `memory` has found.
    [[nodiscard]] ReaderBiasedLock& rows(int rank) const noexcept
    {
        return targets_[rank].accumulates->rows;
    }

    /// A flush of a target whose operations are all complete when they are issued.
    [[nodiscard]] bool flush(int rank) noexcept
    {
        const bool done = flush_local(rank);
        if (done) [[likely]] {
            order();
        }
        return done;
    }

    /// The same for a local flush, which orders nothing.
    [[nodiscard]] bool flush_local(int rank) const noexcept
    {
        if (static_cast<std::uint32_t>(rank) >= members_) [[unlikely]] {
            return region_ != nullptr && is_open(*region_, targets_, rank);
        }
        return targets_[rank].flushable.load(std::memory_order_acquire);
    }

    // --- For the epochs, with the engine ---------------------------------------------------------
    Mapped() noexcept { unfenced_.store(never_fenced_, relaxed); }

    /// Before anything else is called. Both outlive this.
    void begin(Target* targets, std::uint32_t members, Accumulates& accumulates) noexcept;

    /// The direct path of the window of a memory handle, whose parent has these targets: it reaches
    /// the region and nothing else, in the parent's epochs. All outlive it.
    void begin_region(Target* targets, Accumulates& accumulates,
                      const HandleRegion& region) noexcept;
    /// Plain accesses are made that are not told here, and flushes of this one are to order, too:
    /// through windows of memory handles, or by the program's own loads and stores.
    void expect_untold() noexcept
    {
        has_untold_ = true;
        never_fenced_ = true;
        unfenced_.store(true, relaxed);
    }

    /// From now on, or not any more, another thread may sweep; and if `many`, several threads of
    /// the program may call at the same time. No call on the window may be going on.
    void expect_threads(bool sweeps, bool many) noexcept;

    /// With `close` the one place that writes what `memory` and `flush` read of a target.
    void open(Target& target, Opening opening) noexcept
    {
        target.concurrent.store(opening.concurrent, relaxed);
        target.reach.store(opening.reachable && target.mapped ? target.size : 0,
                           std::memory_order_release);
        target.flushable.store(opening.flushable && (target.mapped || target.regions != nullptr),
                               std::memory_order_release);
        if (target.regions != nullptr) [[unlikely]] {
            target.handle_regions(opening.reachable && regions_direct_);
        }
    }
    /// Nothing of a target may be reached: it is lost.
    static void close(Target& target) noexcept;
    /// All targets at once, in a fence epoch.
    void open_all(bool open, bool concurrent) noexcept
    {
        all_concurrent_.store(concurrent, relaxed);
        all_open_.store(open, std::memory_order_release);
    }

    /// Whether operations were issued in the fence epoch that was opened last.
    [[nodiscard]] bool fence_used() const noexcept { return fence_used_.load(relaxed); }
    void set_fence_used(bool used) noexcept { fence_used_.store(used, relaxed); }

    /// Orders the loads and stores of the direct path before everything after it, as a flush must:
    /// two members that each put, flush and get the other's value must not both miss it.
    void order() noexcept
    {
        if (unfenced_.load(relaxed)) [[likely]] {
            full_barrier();
            if (!never_fenced_) {
                unfenced_.store(false, relaxed);
            }
        }
    }

private:
    /// In a granted fence epoch.
    [[gnu::always_inline]] std::byte* open_to_all(const Target& target, std::int64_t displacement,
                                                  std::uint64_t bytes) noexcept
    {
        std::byte* found = nullptr;
        if (target.regions == nullptr) {
            found = within(target, displacement, bytes, target.mapped ? target.size : 0);
        } else if (regions_direct_) {
            found = target.latest.known_at(static_cast<std::uint64_t>(displacement), bytes);
        }
        if (found != nullptr) {
            set_fence_used(true);
        }
        return found;
    }

    Target* targets_ = nullptr;
    std::uint32_t members_ = 0;               ///< none where only a region is reached
    std::atomic<bool> all_open_{false};       ///< a granted fence epoch
    std::atomic<bool> all_concurrent_{false}; ///< it asserts MPIX_MODE_CONCURRENT_AM
    std::atomic<bool> fence_used_{false};     ///< operations were issued in the open fence epoch
    std::atomic<bool> unfenced_{false}; ///< plain accesses were made since the last full barrier
    /// Every flush has its barrier: another thread may have reset `unfenced_`, or the processor's
    /// atomic instructions are none.
    bool never_fenced_ = !rmw_is_barrier;
    /// Calls look at a member's regions without the engine: no other thread looks up new ones.
    bool regions_direct_ = true;
    ElementSlot* slot_ = nullptr; ///< of the only thread that calls; null: ask `accumulates_`
    Accumulates* accumulates_ = nullptr;
    const HandleRegion* region_ = nullptr; ///< of the window of a memory handle
    bool has_untold_ = false;              ///< plain accesses, see expect_untold
};

} // namespace sidelight::rma
