// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace sidelight::host::node {

/// Cores that this process may run on.
[[nodiscard]] int available_cores() noexcept;
/// A number that processes have in common if they may run on the same set of cores.
[[nodiscard]] std::uint64_t core_set() noexcept;
/// Ranks of the job on this node, as the launcher says; 1 where it does not.
[[nodiscard]] int launched_neighbours() noexcept;

} // namespace sidelight::host::node
