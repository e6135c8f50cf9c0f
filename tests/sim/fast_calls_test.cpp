// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "scenario.hpp"

/// Calls that are over at once: what they leave behind leaves when their token ends.
namespace sidelight::sim {

/// The lock passes on although its holder, whose epoch was settled, computes after the unlock and
/// lets nothing leave.
TEST(FastCalls, UnlockLetsARemoteWaiterIn)
{
    Draft d(2, 1);
    d.program().direct = true;
    d.program().progress_percent = 0;
    d.program().costs.full_percent = 0;
    const Time late = 5'000'000;
    Author holder = d.rank(0);
    holder.lock(LockType::exclusive, 0);
    holder.meet();
    holder.meet(); // hears meanwhile of the other one's lock
    holder.unlock(0, blocking);
    holder.compute(late);
    Author waiter = d.rank(1);
    waiter.meet();
    waiter.lock(LockType::exclusive, 0);
    waiter.compute(late / 10);
    waiter.meet();
    const auto granted = waiter.await_grant(0);
    waiter.unlock(0, blocking);
    run(d.finish(), [&](World& world) { EXPECT_LT(world.rank(1).times(granted).done, late); });
}

} // namespace sidelight::sim
