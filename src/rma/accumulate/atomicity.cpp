// SPDX-License-Identifier: BSD-3-Clause
#include "rma/accumulate/atomicity.hpp"

#include <thread>

#include "base/cpu.hpp"

namespace sidelight::rma {
namespace {

/// About as long as the holder needs for one element, if it has a core.
constexpr int spins_before_yield = 50;

} // namespace

void AtomicityLocks::acquire(const void* address) noexcept
{
    std::atomic<std::uint32_t>& held = locks_[stripe(address)].held;
    for (int spins = 0;; ++spins) {
        std::uint32_t free = 0;
        if (held.compare_exchange_weak(free, 1, std::memory_order_seq_cst,
                                       std::memory_order_relaxed)) {
            return;
        }
        if (spins < spins_before_yield) {
            relax_cpu();
        } else {
            std::this_thread::yield();
        }
    }
}

void AtomicityLocks::release(const void* address) noexcept
{
    locks_[stripe(address)].held.store(0, std::memory_order_release);
}

} // namespace sidelight::rma
