// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

/// How rows of many elements are combined by plain instructions, which are ten times as fast as
/// atomic ones, and still exclude the atomic instructions that single elements are combined by.
/// Protocol: docs/design/accumulates.md.
namespace sidelight::rma {

/// The member whose elements a thread combines at this moment: its rank + 1, or 0. In the block of
/// the thread's own member; written by that thread alone.
struct alignas(64) ElementSlot {
    std::atomic<std::uint32_t> target{0};
};
/// Threads beyond so many less two (see Accumulates::slot) go without.
using ElementSlots = std::array<ElementSlot, 8>;

/// One for each member, in its block; zeroed memory is open. While it is open, elements are
/// combined by atomic instructions, side by side. While it is closed, whoever combines anything
/// holds it.
class ReaderBiasedLock {
public:
    /// Also true while it is being closed. Pairs with the release in `open`: whoever finds it open
    /// finds the rows before that, too.
    [[nodiscard]] bool closed() const noexcept
    {
        return closed_.load(std::memory_order_acquire) != 0;
    }

    /// Waits for it: spins a little, then gives the core away (SpinWait).
    void acquire() noexcept
    {
        if (held_.exchange(1, std::memory_order_seq_cst) != 0) [[unlikely]] {
            await();
        }
    }
    void release() noexcept { held_.store(0, std::memory_order_release); }

    /// Holds it for a row of so many bytes if it is closed. False: it is open, and not held.
    [[nodiscard]] bool enter_closed(std::size_t bytes) noexcept
    {
        if (!closed()) {
            return false;
        }
        acquire();
        if (!closed()) [[unlikely]] {
            release();
            return false;
        }
        note_row(bytes);
        return true;
    }

    // For the holder:
    /// On return nobody combines single elements of this member. `everybody`: the slots of all
    /// members who may. False: it stays open.
    [[nodiscard]] bool close(std::span<const ElementSlots* const> everybody,
                             std::uint32_t number) noexcept;
    void open() noexcept;
    /// A row: those who combine single elements go on asking for it, the longer the more it gains.
    void note_row(std::size_t bytes) noexcept
    {
        const std::size_t worth = std::min(bytes / bytes_for_an_element, most_elements);
        elements_to_come_ = std::max(elements_to_come_, static_cast<std::uint32_t>(worth));
    }
    /// A single element. Opens it when there were so many without a row between them that a row to
    /// come may pay for closing it again.
    void note_element() noexcept;

private:
    static constexpr std::size_t bytes_for_an_element = 16;
    static constexpr std::size_t most_elements = 64;
    void await() noexcept;

    alignas(64) std::atomic<std::uint32_t> closed_{0}; ///< changed by the holder only
    alignas(64) std::atomic<std::uint32_t> held_{0};   ///< acquire by exchange, release by store
    std::uint32_t elements_to_come_ = 0;               ///< until it opens; guarded by `held_`
};

/// The scope in which a thread combines elements of a member by atomic instructions.
class ElementAccess {
public:
    /// `slot`: this thread's, or null if there is none for it. `number`: the member's rank + 1.
    [[gnu::always_inline]] ElementAccess(ReaderBiasedLock& gate, ElementSlot* slot,
                                         std::uint32_t number) noexcept
        : gate_(gate), slot_(slot)
    {
        if (slot_ == nullptr || !try_enter(gate_, *slot_, number)) [[unlikely]] {
            slot_ = enter_slowly(gate_, slot_, number);
        }
    }
    [[gnu::always_inline]] ~ElementAccess()
    {
        if (slot_ != nullptr) [[likely]] {
            slot_->target.store(0, std::memory_order_release); // pairs with who waits for elements
        } else {
            gate_.release();
        }
    }
    ElementAccess(const ElementAccess&) = delete;
    ElementAccess& operator=(const ElementAccess&) = delete;

private:
    /// The side of the exchange that has no barrier (base/heavy_barrier.hpp).
    [[gnu::always_inline]] static bool try_enter(ReaderBiasedLock& gate, ElementSlot& slot,
                                                 std::uint32_t number) noexcept
    {
        slot.target.store(number, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        return !gate.closed();
    }
    /// Answers by which slot; null: the gate is held. No member, so that the object stays in
    /// registers.
    static ElementSlot* enter_slowly(ReaderBiasedLock& gate, ElementSlot* slot,
                                     std::uint32_t number) noexcept;

    ReaderBiasedLock& gate_;
    ElementSlot* slot_; ///< null: the gate is held instead
};

/// Who may combine rows of one member, for the operations in transfer.hpp.
class RowAccess {
public:
    virtual ~RowAccess() = default;
    /// Whether a row of so many bytes may be combined by plain instructions now: then nobody else
    /// combines anything there until `leave`.
    [[nodiscard]] virtual bool enter(std::size_t bytes) noexcept = 0;
    virtual void leave() noexcept = 0;
};

} // namespace sidelight::rma
