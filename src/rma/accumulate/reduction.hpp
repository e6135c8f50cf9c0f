// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cpu.hpp"
#include "datatype/basic.hpp"
#include "rma/kinds.hpp"

namespace sidelight::rma {

/// Combines `elements` elements at `origin` into those at `target`, each at its extent from the one
/// before. Writes what the target held before to `result`, unless that is null.
/// `no_op` reads no origin, and neither does anything write the holes of an element. The origin
/// overlaps nothing that is written.
using ReductionKernel = void(void* target, const void* origin, void* result,
                             std::size_t elements) noexcept;

/// How one operation treats one basic type. All are null where MPI forbids the combination.
struct Reduction {
    /// Each element in one atomic access, or several in one that holds them, for targets aligned to
    /// the `atomic` width of the type; null for types that have none. Sequentially consistent, and
    /// a full barrier where `rmw_is_barrier` (base/cpu.hpp) says so.
    ReductionKernel* atomic = nullptr;
    /// For a caller that excludes every other access to the element.
    ReductionKernel* plain = nullptr;
    /// The same by instructions that not every processor has; null where they gain nothing.
    ReductionKernel* wide = nullptr;
    ReductionKernel* widest = nullptr;

    /// The fastest one of the last three that this processor has.
    [[nodiscard]] ReductionKernel* row() const noexcept
    {
        if (widest != nullptr && has_widest_vectors()) {
            return widest;
        }
        return wide != nullptr && has_wide_vectors() ? wide : plain;
    }
};

[[nodiscard]] const Reduction& reduction(ReduceOp op, datatype::Basic basic) noexcept;

/// Whether MPI_Compare_and_swap takes the type: integers, logical, multi-language and byte types.
[[nodiscard]] bool can_compare_and_swap(datatype::Basic basic) noexcept;

} // namespace sidelight::rma
