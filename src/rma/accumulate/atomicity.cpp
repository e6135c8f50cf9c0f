// SPDX-License-Identifier: BSD-3-Clause
#include "rma/accumulate/atomicity.hpp"

#include "base/spin_wait.hpp"

namespace sidelight::rma {
namespace {

/// About as long as the holder needs for one element, if it has a core.
constexpr int spins_before_yield = 50;

} // namespace

void AtomicityLocks::acquire(const void* address) noexcept
{
    std::atomic<std::uint32_t>& held = locks_[stripe(address)].held;
    SpinWait wait(spins_before_yield);
    std::uint32_t free = 0;
    while (!held.compare_exchange_weak(free, 1, std::memory_order_seq_cst,
                                       std::memory_order_relaxed)) {
        wait.pause();
        free = 0;
    }
}

void AtomicityLocks::release(const void* address) noexcept
{
    locks_[stripe(address)].held.store(0, std::memory_order_release);
}

} // namespace sidelight::rma
