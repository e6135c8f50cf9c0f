// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include "base/cpu.hpp"
#include "rma/operation/mapped.hpp"

namespace sidelight::rma {

/// Before an ordered operation on mapped memory: those before it are in the target's memory first.
/// One that stores alone needs what costs nothing on x86; one that reads must not overtake the
/// stores of a put.
inline void order_access(bool stores_alone) noexcept
{
    if (stores_alone) {
        std::atomic_thread_fence(std::memory_order_acq_rel);
    } else {
        full_barrier();
    }
}

/// The same for the program's thread, whose next flush needs no barrier of its own then. A helper
/// that replays an operation must leave the mark of that alone.
[[gnu::always_inline]] inline void order_own_access(Mapped& mapped, bool stores_alone) noexcept
{
    if (stores_alone) {
        order_access(true);
    } else {
        mapped.order();
    }
}

} // namespace sidelight::rma
