// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "script.hpp"

namespace sidelight::sim {

/// Draws a program of epochs that are closed without waiting, mostly of what can be offered, by
/// origins that compute for long, and of those who wait for them and come at any time.
[[nodiscard]] Program draw_offers(std::uint64_t seed);

} // namespace sidelight::sim
