// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "script.hpp"

namespace sidelight::sim {

/// A dynamic window over nodes whose members put and get, and between rounds detach some of their
/// regions and attach them again. Cards access memory for all of the pairs, or half of them.
[[nodiscard]] Program draw_renewals(std::uint64_t seed);

} // namespace sidelight::sim
