// SPDX-License-Identifier: BSD-3-Clause
#include "seeds.hpp"

#include <cstdio>

#include "world.hpp"

namespace sidelight::sim {

Taste taste_of(std::uint64_t seed) noexcept
{
    if (seed % 5000 == 4999) {
        return {.max_ranks = 64, .max_items = 6};
    }
    if (seed % 100 == 99) {
        return {.max_ranks = 12, .max_items = 16};
    }
    return {};
}

Outcome run_seeds(std::uint64_t first, std::uint64_t count, bool report)
{
    return run_programs(first, count, report,
                        [](std::uint64_t seed) { return draw_program(seed, taste_of(seed)); });
}

Outcome run_programs(std::uint64_t first, std::uint64_t count, bool report,
                     Program (*draw)(std::uint64_t seed))
{
    Outcome outcome;
    for (std::uint64_t seed = first; seed < first + count && outcome.ok; ++seed) {
        World world(draw(seed));
        outcome.ok = world.run();
        ++outcome.seeds;
        outcome.statistics.add(world.ledger().statistics());
        if (!outcome.ok) {
            outcome.failed = seed;
            outcome.failure = world.failure();
            if (report) {
                world.report(stderr);
            }
        }
    }
    return outcome;
}

} // namespace sidelight::sim
