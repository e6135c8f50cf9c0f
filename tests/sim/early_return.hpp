// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "script.hpp"

namespace sidelight::sim {

/// Draws a program that knows blocking calls alone, as those do that nobody changes, but for
/// targets that expose ahead: exchanges by post, start, complete and wait whose targets are late,
/// locks of one or two ranks on one or two windows, fences, and meetings in memory during which
/// nobody makes a call. A rank keeps nothing, little, or much for calls that return early. No such
/// program may hang, with whatever room: each would come to its end if every MPI_Win_complete
/// waited for its targets.
[[nodiscard]] Program draw_blocking(std::uint64_t seed);

} // namespace sidelight::sim
