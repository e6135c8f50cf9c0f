// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/shared_memory.hpp"
#include "host/control_groups.hpp"

/// How much memory this process may take.
namespace sidelight::host {

/// Whether the kernel hands out no more memory than there is (vm.overcommit_memory is 2). True also
/// where nobody knows.
[[nodiscard]] bool overcommit_is_strict() noexcept;

/// How many mappings the kernel lets a process have (vm.max_map_count): a thread or a large malloc
/// takes one too.
[[nodiscard]] std::uint64_t most_mappings() noexcept;

/// Asks for memory that a file is going to have. The kernel counts pages of files when they are
/// touched, and ends who touches one too many; where it hands out no more than there is they are
/// asked for as private ones first, which nobody else gets as long as this lives.
class Reservation {
public:
    explicit Reservation(std::size_t bytes) noexcept;
    /// Always where the kernel hands out more.
    [[nodiscard]] bool is_granted() const noexcept { return granted_; }
    void give_up() noexcept { memory_ = Mapping(); }

private:
    Mapping memory_;
    bool granted_;
};

/// Bytes that the control groups of a process still let it take. UINT64_MAX: there is no limit.
/// Throws std::bad_alloc.
[[nodiscard]] std::uint64_t left_by_groups(const ControlGroups& where);

/// The same for this process, which may have a limit on its addresses as well: what that leaves is
/// not known without counting, so it counts as nothing.
[[nodiscard]] std::uint64_t may_still_take();

} // namespace sidelight::host
