// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "seeds.hpp"

namespace sidelight::sim {

class World;

/// What must be true at the end of a run in which a node has died. That the others came to their
/// ends the world itself has seen.
void check_survivors(World& world);

/// Runs the programs of so many seeds, in each of which a node dies at some time.
[[nodiscard]] Outcome run_deaths(std::uint64_t first, std::uint64_t count, bool report = true);

/// How the requests of the survivors of all runs so far ended.
struct Deaths {
    std::uint64_t complete = 0;
    std::uint64_t failed = 0;
    std::uint64_t got = 0;    ///< gets from survivors on other nodes, and right
    std::uint64_t proved = 0; ///< operations among survivors that had to be there, and were
};
[[nodiscard]] Deaths deaths() noexcept;

} // namespace sidelight::sim
