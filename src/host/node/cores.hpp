// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <climits>
#include <cstdint>

#include "host/control_groups.hpp"

namespace sidelight::host::node {

/// As much computing as a control group gives to all processes in it: who goes on beyond that
/// stands still until the next period.
struct CoreQuota {
    int cores = INT_MAX;     ///< rounded up
    std::uint64_t group = 0; ///< the inode of its folder
};
/// The least of those that a process is in. Throws std::bad_alloc.
[[nodiscard]] CoreQuota core_quota(const ControlGroups& where);

/// Cores that this process may run on, or as many as its control group may use at a time.
[[nodiscard]] int available_cores() noexcept;
/// A number that processes have in common if they may run on the same set of cores, or share a
/// smaller quota.
[[nodiscard]] std::uint64_t core_set() noexcept;
/// Ranks of the job that share this process's cores, as far as the launcher tells: all of those on
/// the node. 1 where it does not tell, or has bound this process to some of the cores, and no quota
/// is smaller: who else is there is known when a window is made.
[[nodiscard]] int launched_neighbours() noexcept;

} // namespace sidelight::host::node
