// SPDX-License-Identifier: BSD-3-Clause
#include "rma/accumulate/reader_biased_lock.hpp"

#include "base/heavy_barrier.hpp"
#include "base/spin_wait.hpp"

namespace sidelight::rma {
namespace {

/// About as long as a holder needs for a short row, if it has a core.
constexpr int spins_at_gate = 200;

void await_end(const ElementSlot& slot, std::uint32_t number) noexcept
{
    SpinWait wait(spins_at_gate);
    while (slot.target.load(std::memory_order_acquire) == number) {
        wait.pause();
    }
}

} // namespace

void ReaderBiasedLock::await() noexcept
{
    SpinWait wait(spins_at_gate);
    do {
        while (held_.load(std::memory_order_relaxed) != 0) {
            wait.pause();
        }
    } while (held_.exchange(1, std::memory_order_seq_cst) != 0);
}

/// The side of the exchange that has the barrier: whoever is in there by now has said so.
bool ReaderBiasedLock::close(std::span<const ElementSlots* const> everybody,
                             std::uint32_t number) noexcept
{
    closed_.store(1, std::memory_order_seq_cst);
    if (!heavy_barrier()) {
        open();
        return false;
    }
    for (const ElementSlots* slots : everybody) {
        for (const ElementSlot& slot : *slots) {
            await_end(slot, number);
        }
    }
    return true;
}

void ReaderBiasedLock::open() noexcept { closed_.store(0, std::memory_order_release); }

void ReaderBiasedLock::note_element() noexcept
{
    if (elements_to_come_ == 0) {
        open();
    } else {
        --elements_to_come_;
    }
}

/// With the gate held an element is safe whether the gate is open or not: rows need it too.
ElementSlot* ElementAccess::enter_slowly(ReaderBiasedLock& gate, ElementSlot* slot,
                                         std::uint32_t number) noexcept
{
    for (;;) {
        if (slot != nullptr) {
            slot->target.store(0, std::memory_order_release);
        }
        gate.acquire();
        if (slot == nullptr || gate.closed()) {
            if (gate.closed()) {
                gate.note_element();
            }
            return nullptr;
        }
        gate.release();
        if (try_enter(gate, *slot, number)) {
            return slot;
        }
    }
}

} // namespace sidelight::rma
