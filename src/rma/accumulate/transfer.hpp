// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "datatype/layout.hpp"
#include "rma/accumulate/atomicity.hpp"
#include "rma/accumulate/reader_biased_lock.hpp"
#include "rma/accumulate/reduction.hpp"

namespace sidelight::rma {

/// RMA operations on target memory that is mapped here (MPI-4.1, 12.3). All are complete at the
/// target when they return, allocate nothing, and expect a target range that has been checked.
///
/// Status: `type` when a layout is missing, or the sides are not made of one and the same basic
/// type where the operation needs that; `op` when the operation does not take the type; `count`
/// when the data do not fit where they go. Nothing is written then.

enum class Direction : std::uint8_t { put, get };

/// A row of elements is combined by plain instructions so many bytes at a time: nobody waits for
/// longer than that takes.
inline constexpr std::size_t longest_plain_row = std::size_t{64} << 10;

/// What keeps accumulates on the memory of one member apart.
struct Atomicity {
    AtomicityLocks& locks;
    ReaderBiasedLock* gate =
        nullptr;                 ///< null: elements alone, so there is nothing to keep them from
    ElementSlot* slot = nullptr; ///< of this thread, or null
    std::uint32_t number = 0;    ///< the member's rank + 1
    RowAccess* rows = nullptr;

    Atomicity(AtomicityLocks& among) noexcept : locks(among) {}
    Atomicity(AtomicityLocks& among, ReaderBiasedLock& of_rows, ElementSlot* own,
              std::uint32_t member, RowAccess* whole) noexcept
        : locks(among), gate(&of_rows), slot(own), number(member), rows(whole)
    {}
};

/// MPI_Put and MPI_Get. Not atomic, but aligned blocks of 1, 2, 4 or 8 bytes are never torn.
Status transfer(Direction direction, const datatype::Buffer& origin,
                const datatype::Buffer& target) noexcept;

/// MPI_Accumulate. Atomic per element against all the accumulates below with the same `atomicity`.
Status accumulate(ReduceOp op, const datatype::Buffer& origin, const datatype::Buffer& target,
                  const Atomicity& atomicity) noexcept;

/// MPI_Get_accumulate, and MPI_Fetch_and_op with counts of 1. The old values go to `result`. With
/// `no_op` the origin is not looked at, and the target says how many elements there are.
Status get_accumulate(ReduceOp op, const datatype::Buffer& origin, const datatype::Buffer& result,
                      const datatype::Buffer& target, const Atomicity& atomicity) noexcept;

/// MPI_Compare_and_swap: one element of a predefined layout on all sides.
Status compare_and_swap(const void* origin, const void* compare, void* result,
                        const datatype::Layout* layout, void* target,
                        const Atomicity& atomicity) noexcept;

} // namespace sidelight::rma
