// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include "rma/operation/mapped.hpp"

namespace sidelight::rma {

/// Before an ordered operation on mapped memory: those before it are in the target's memory first.
/// One that stores alone needs what costs nothing on x86; one that reads must not overtake the
/// stores of a put.
inline void order_access(Mapped& mapped, bool stores_alone) noexcept
{
    if (stores_alone) {
        std::atomic_thread_fence(std::memory_order_acq_rel);
    } else {
        mapped.order();
    }
}

} // namespace sidelight::rma
