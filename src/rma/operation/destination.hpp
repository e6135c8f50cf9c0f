// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "base/status.hpp"
#include "rma/operation.hpp"
#include "rma/operation/target.hpp"
#include "rma/region/own_memory.hpp"

namespace sidelight::rma {

/// Where in the target's memory an operation goes.
struct Destination {
    std::size_t address = 0;     ///< an offset from `base`, in a dynamic window an address there
    std::byte* memory = nullptr; ///< the same, where that is mapped here
    bool mapped = false;
    bool checked = false; ///< all of it is known to be the target's; the fabric may access it
};

/// Finds it, if all that the operation touches lies in the target's memory. What is attached to a
/// dynamic window counts when access is granted; what cannot be seen here the target looks up
/// itself. `own`: this member's memory; `is_own`: it is the target.
Status locate(const Operation& operation, const Target& target, const OwnMemory& own, bool is_own,
              bool granted, Destination& destination) noexcept;

/// What performing it would refuse, found before it is recorded.
Status check_operands(const Operation& operation) noexcept;

} // namespace sidelight::rma
