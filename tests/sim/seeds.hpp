// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "generator.hpp"
#include "records.hpp"

namespace sidelight::sim {

/// What came of many seeds. `failed` is the first seed that did.
struct Outcome {
    std::uint64_t seeds = 0;
    bool ok = true;
    std::uint64_t failed = 0;
    std::string failure;
    Statistics statistics;
};

/// Which programs belong to a seed: small ones, and a big one every now and then.
[[nodiscard]] Taste taste_of(std::uint64_t seed) noexcept;

/// Runs the programs of the seeds `first` and on, until one fails, which is then reported on
/// stderr.
[[nodiscard]] Outcome run_seeds(std::uint64_t first, std::uint64_t count, bool report = true);

/// The same with programs that `draw` makes of the seeds.
[[nodiscard]] Outcome run_programs(std::uint64_t first, std::uint64_t count, bool report,
                                   Program (*draw)(std::uint64_t seed));

} // namespace sidelight::sim
