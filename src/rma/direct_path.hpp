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
    /// The address of `bytes` bytes at the displacement in the target's memory, if they may be
    /// accessed now and lie inside its window.
    [[nodiscard]] static std::byte* memory(Window& window, int rank, std::int64_t displacement,
                                           std::uint64_t bytes) noexcept
    {
        if (static_cast<std::uint32_t>(rank) >= window.members_) {
            return nullptr;
        }
        const Target& target = window.first_target_[rank];
        if (!target.direct.load(std::memory_order_acquire) &&
            !(window.direct_all_.load(std::memory_order_acquire) && target.mapped)) {
            return nullptr;
        }
        const auto where = static_cast<std::uint64_t>(displacement);
        std::uint64_t offset = 0;
        if (__builtin_mul_overflow(where, target.disp_unit, &offset) || bytes > target.size ||
            offset > target.size - bytes) {
            return nullptr;
        }
        return target.base + offset;
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

    /// A flush of a target whose operations are all complete when they are issued.
    [[nodiscard]] static bool flush(Window& window, int rank, bool threaded) noexcept
    {
        if (static_cast<std::uint32_t>(rank) >= window.members_ ||
            !window.first_target_[rank].flushable.load(std::memory_order_acquire)) {
            return false;
        }
        order(window, threaded);
        return true;
    }

    /// The same for a local flush, which orders nothing.
    [[nodiscard]] static bool flush_local(const Window& window, int rank) noexcept
    {
        return static_cast<std::uint32_t>(rank) < window.members_ &&
               window.first_target_[rank].flushable.load(std::memory_order_acquire);
    }

private:
    static void order(Window& window, bool threaded) noexcept
    {
        if (window.unfenced_.load(relaxed) || threaded || !rmw_is_barrier) {
            full_barrier();
            window.unfenced_.store(false, relaxed);
        }
    }
};

} // namespace sidelight::rma
