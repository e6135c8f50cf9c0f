// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "rma/accumulate/transfer.hpp"

namespace sidelight::rma {

/// What keeps the accumulates on one member's memory apart. In the member's block of the node's
/// memory; zeroed memory is free and open.
struct AccumulateBlock {
    AtomicityLocks atomicity;
    ReaderBiasedLock rows; ///< to this member's memory
    ElementSlots elements; ///< of this member's threads
    /// This member lets heavy barriers reach it, so rows may be combined. Set when it makes its end
    /// of the window.
    std::atomic<bool> allows_rows{false};
};

/// One member whose memory is mapped here, as accumulates see it.
struct AccumulateTarget {
    AccumulateBlock& block;
    std::uint32_t number; ///< the member's rank + 1
    std::uint32_t&
        row_bytes; ///< of rows combined by atomic instructions since plain ones were used
};

/// The accumulates of one process on memory that is mapped here, and when rows of elements go by
/// plain instructions. Protocol: docs/design/accumulates.md. Owned by the window; its calls need
/// the engine, but for `slot`.
class Accumulates {
public:
    /// `own`: this member's block, which outlives this.
    explicit Accumulates(AccumulateBlock& own) noexcept : own_(own) {}

    /// A member of this node, itself included. Throws std::bad_alloc.
    void add_neighbour(const AccumulateBlock& block);

    /// Whether several threads of the program may call at the same time.
    void set_many_threads(bool many) noexcept { many_threads_ = many; }

    /// The slot of the calling thread, for accesses without the engine; null: there is none for it.
    /// Needs no engine.
    [[nodiscard]] ElementSlot* slot() noexcept;
    /// The same where the program has one thread, which is the only one without the engine.
    [[nodiscard]] ElementSlot* only_slot() noexcept
    {
        return many_threads_ ? nullptr : own_.elements.data();
    }

    /// MPI_Accumulate, or where there is a result MPI_Get_accumulate. `origin` may be missing.
    Status accumulate(ReduceOp op, const AccumulateTarget& target, const datatype::Buffer& origin,
                      const datatype::Buffer& result, const datatype::Buffer& memory) noexcept;
    Status compare_and_swap(const AccumulateTarget& target, const void* origin, const void* compare,
                            void* result, const datatype::Layout* layout, void* memory) noexcept;

private:
    class Rows;
    /// Whoever holds the engine has the second slot.
    [[nodiscard]] ElementSlot* engine_slot() noexcept { return &own_.elements[1]; }
    [[nodiscard]] bool rows_possible() const noexcept;
    [[nodiscard]] bool enter_row(const AccumulateTarget& target, std::size_t bytes) noexcept;

    AccumulateBlock& own_;
    std::vector<const AccumulateBlock*> neighbours_;
    std::vector<const ElementSlots*> slots_; ///< theirs
    bool many_threads_ = false;
};

} // namespace sidelight::rma
