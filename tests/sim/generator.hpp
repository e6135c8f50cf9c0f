// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "script.hpp"

namespace sidelight::sim {

/// Which programs are drawn.
struct Taste {
    int max_ranks = 6;
    int max_items = 8;
};

/// A correct program, drawn from the seed. It is a list of items - a fence series, an exchange by
/// post, start, complete and wait, a burst of locks - that every rank goes through in the same
/// order; whoever blocks in an item waits for calls of that item or of earlier ones only, so no
/// choice of blocking and nonblocking calls can make the program wait for itself.
[[nodiscard]] Program draw_program(std::uint64_t seed, const Taste& taste = {});

} // namespace sidelight::sim
