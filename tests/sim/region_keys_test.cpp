// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "renewals.hpp"
#include "scenario.hpp"
#include "seeds.hpp"

/// Regions of members elsewhere, fetched at first use and never stale. P3, 4.1.
namespace sidelight::sim {

/// Regions come and go, at the same addresses, while others keep what they know of them. A card
/// that is told to access what is not exposed is a violation.
TEST(RegionKeys, AreNeverStale)
{
    const Outcome outcome = run_programs(0, 3000, true, draw_renewals);
    EXPECT_TRUE(outcome.ok) << "seed " << outcome.failed << ": " << outcome.failure;
    EXPECT_GT(outcome.statistics.accesses, 1000U); // by cards
}

/// The first put carries its data although nothing is known yet, and the key comes behind it.
TEST(RegionKeys, AreFetchedWithTheFirstPut)
{
    Draft d(2, 1);
    d.program().dynamic = true;
    d.program().progress_percent = 0;
    d.program().costs.native_percent = 100;
    Author origin = d.rank(0);
    origin.lock(LockType::shared, 1);
    const auto first = origin.write(Call::put, 1);
    origin.make_remote();
    origin.wait_for({static_cast<int>(first)});
    origin.unlock(1, blocking);
    d.rank(1).compute(10);
    const Program program = d.finish();
    run(program, [&](World& world) {
        const StepTimes& times = world.rank(0).times(first);
        const Time trip = 2 * (program.costs.latency + 1000);
        EXPECT_LT(times.done - times.called, 2 * trip);
    });
}

/// An owner detaches although those who have keys compute: it waits for the network alone.
TEST(RegionKeys, AreWithdrawnFromThoseWhoCompute)
{
    Draft d(2, 1);
    d.program().dynamic = true;
    d.program().progress_percent = 0;
    d.program().costs.native_percent = 100;
    const Time late = 50'000'000;
    Author origin = d.rank(0);
    origin.lock(LockType::shared, 1);
    for (int k = 0; k < 3; ++k) {
        origin.write(Call::put, 1);
        origin.flush(1, FlushScope::remote, blocking);
    }
    origin.unlock(1, blocking);
    origin.meet();
    origin.compute(late);
    origin.meet();
    origin.lock(LockType::shared, 1);
    origin.write(Call::put, 1);
    origin.unlock(1, blocking);
    Author owner = d.rank(1);
    owner.meet();
    const std::size_t cells = 100;
    d.program().cells = cells;
    const auto detach = owner.detach(0, cells);
    owner.attach(0, cells);
    owner.meet();
    run(d.finish(), [&](World& world) { EXPECT_LT(world.rank(1).times(detach).done, late); });
}

} // namespace sidelight::sim
