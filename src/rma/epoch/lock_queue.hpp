// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "rma/rules.hpp"

namespace sidelight::rma {

/// A place in a lock queue: the sum of the places before it.
struct LockPlace {
    std::uint64_t ahead = 0;
};

/// Fair reader-writer queue: first come, first served, neighbouring readers together. Taking a
/// place and leaving are one atomic instruction each, by the origin or by who performs what it has
/// offered, so the lock passes on with no help from the process whose memory it guards. See
/// docs/design/locks.md.
class LockQueue {
public:
    /// Takes a place. Pairs with the release in `depart` of those ahead, through `admits`.
    [[nodiscard]] LockPlace arrive(LockType type) noexcept
    {
        return {arrivals_.fetch_add(rules::place(type), std::memory_order_seq_cst)};
    }

    /// Takes a place if that admits at once, in one step; else takes none. A place may be free and
    /// refused when others come and go at the same moment.
    [[nodiscard]] bool try_arrive(LockType type) noexcept
    {
        std::uint64_t ahead = arrivals_.load(std::memory_order_relaxed);
        return admits(type, {ahead}) &&
               arrivals_.compare_exchange_strong(ahead, ahead + rules::place(type),
                                                 std::memory_order_seq_cst);
    }

    /// Whether a place that is taken now would be admitted at once.
    [[nodiscard]] bool is_free(LockType type) const noexcept
    {
        return admits(type, {arrivals_.load(std::memory_order_relaxed)});
    }

    /// Whether the holder of the place may enter; once true, it stays true until the place is left.
    [[nodiscard]] bool admits(LockType type, LockPlace place) const noexcept
    {
        return rules::lock_admits(type, place.ahead, departures_.load(std::memory_order_acquire));
    }

    /// Leaves. Releases everything done under the lock. Answers whether others hold a place: who
    /// has taken one and then finds this one not left, behind a full barrier, is seen. The load is
    /// sequentially consistent for that: a weaker one may come before the counter is written, where
    /// an atomic read-modify-write is no barrier.
    bool depart(LockType type) noexcept
    {
        const std::uint64_t mine = rules::place(type);
        const std::uint64_t left = departures_.fetch_add(mine, std::memory_order_seq_cst) + mine;
        return arrivals_.load(std::memory_order_seq_cst) != left;
    }

    /// The sum of all places left so far: of who has just left one, at least what lets others in.
    /// What was done under those locks is seen behind it.
    [[nodiscard]] std::uint64_t departures() const noexcept
    {
        return departures_.load(std::memory_order_acquire);
    }

    /// The sum of all places taken so far. For checks.
    [[nodiscard]] std::uint64_t arrivals() const noexcept
    {
        return arrivals_.load(std::memory_order_relaxed);
    }

private:
    // Lines of their own: those who wait poll departures while others go on arriving.
    alignas(64) std::atomic<std::uint64_t> arrivals_{0};
    alignas(64) std::atomic<std::uint64_t> departures_{0};
};

} // namespace sidelight::rma
