// SPDX-License-Identifier: BSD-3-Clause
#include "renewals.hpp"

#include "draft.hpp"
#include "fabric/sim/random.hpp"

namespace sidelight::sim {

namespace {

using fabric::sim::Random;

constexpr std::size_t border = 100; ///< cells of the first region; the second has the others
constexpr std::size_t cells = 600;

/// To all that are elsewhere, and complete before the others meet.
void access(Author origin, const Program& program, Random& random)
{
    for (int target = 0; target < program.ranks; ++target) {
        if (target == origin.number() || random.chance(20)) {
            continue;
        }
        origin.lock(rma::LockType::shared, target);
        for (std::uint64_t k = random.below(4); k > 0; --k) {
            random.chance(80) ? origin.write(Call::put, target, 1 + random.below(3))
                              : origin.write(Call::accumulate, target);
            if (random.chance(50)) {
                origin.flush(target,
                             random.chance(50) ? rma::FlushScope::local : rma::FlushScope::remote,
                             Mode::blocking);
            }
        }
        origin.unlock(target, Mode::blocking);
    }
}

/// Nobody accesses it meanwhile. It may be gone for a while, or for an instant.
void renew(Author owner, Random& random)
{
    const bool first = random.chance(50);
    const std::size_t cell = first ? 0 : border;
    const std::size_t words = first ? border : cells - border;
    owner.detach(cell, words);
    if (random.chance(30)) {
        owner.compute(random.below(20000));
    }
    owner.attach(cell, words);
}

} // namespace

Program draw_renewals(std::uint64_t seed)
{
    Random random(seed);
    const int ranks = 2 + static_cast<int>(random.below(3));
    Draft draft(ranks, random.chance(80) ? 1 : 2);
    Program& program = draft.program();
    program.seed = seed;
    program.dynamic = true;
    program.cells = cells;
    program.borders = {border};
    program.costs.native_percent = random.chance(70) ? 100 : 50;
    program.costs.jitter = random.chance(50) ? 0 : 20000;
    program.autonomous = random.chance(50);
    const std::uint64_t rounds = 2 + random.below(4);
    for (std::uint64_t round = 0; round < rounds; ++round) {
        for (int rank = 0; rank < ranks; ++rank) {
            access(draft.rank(rank), program, random);
            draft.rank(rank).meet();
            if (random.chance(60)) {
                renew(draft.rank(rank), random);
            }
            draft.rank(rank).meet();
        }
    }
    return draft.finish();
}

} // namespace sidelight::sim
