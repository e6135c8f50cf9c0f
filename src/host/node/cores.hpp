// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace sidelight::host::node {

/// Cores that this process may run on.
[[nodiscard]] int available_cores() noexcept;
/// A number that processes have in common if they may run on the same set of cores.
[[nodiscard]] std::uint64_t core_set() noexcept;
/// Ranks of the job that share this process's cores, as far as the launcher tells: all of those on
/// the node. 1 where it does not tell, or has bound this process to some of the cores: who else is
/// there is known when a window is made.
[[nodiscard]] int launched_neighbours() noexcept;

} // namespace sidelight::host::node
