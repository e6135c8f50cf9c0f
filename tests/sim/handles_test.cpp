// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "handles.hpp"
#include "scenario.hpp"

/// Memory handles (P2, section 4.2): what they reach, and until when.
namespace sidelight::sim {

/// What comes after the release is refused, and changes nothing, by every route; what came before
/// is there.
TEST(MemoryHandles, LateAccessesAreRefused)
{
    for (const int node_size : {1, 2}) {
        for (const bool direct : {false, true}) {
            for (const bool unmapped : {false, true}) {
                run(late_access(node_size, direct, unmapped));
            }
        }
    }
}

/// An operation that waits for its lock goes when its turn has come, also when its window was freed
/// meanwhile; if the region is released by then it fails, and the closing call tells.
TEST(MemoryHandles, RecordedOperationsLookAgain)
{
    for (const int node_size : {1, 2, 3}) {
        for (const bool released : {false, true}) {
            Draft d(3, node_size);
            d.program().dynamic = true;
            d.program().handles = true;
            d.program().progress_percent = 0;
            Author holder = d.rank(2);
            holder.lock(LockType::exclusive, 1);
            holder.await_grant(1);
            holder.meet();
            holder.meet();
            holder.unlock(1, blocking);
            Author a = d.rank(0);
            a.meet();
            a.lock(LockType::shared, 1);
            if (released) {
                a.stray(1);
                a.make_named();
                a.make_present();
            } else {
                a.write(Call::put, 1, 2);
                a.make_named();
            }
            a.make_bare();
            a.meet();
            const auto unlock = a.unlock(1, blocking);
            Author b = d.rank(1);
            b.meet();
            if (released) {
                b.release();
            }
            b.meet();
            run(d.finish(), [&](World& world) {
                EXPECT_EQ(world.rank(0).status(unlock), released ? Status::rma_range : Status::ok);
            });
        }
    }
}

/// Operations by a handle and by addresses are operations of one window: accumulates on the same
/// elements keep their order, whichever way each goes.
TEST(MemoryHandles, AccumulatesKeepTheirOrder)
{
    for (const bool direct : {false, true}) {
        Draft d(2, 2);
        d.program().dynamic = true;
        d.program().handles = true;
        d.program().direct = direct;
        d.program().progress_percent = 0;
        d.program().borders = {first_free_cell + 1};
        Author a = d.rank(0);
        a.lock(LockType::shared, 1);
        const auto both = a.write(Call::accumulate, 1, 2); // over two regions: by messages
        a.make_bare();
        a.fetch(both, 0, 1);
        a.make_named();
        a.fetch(both, 1, 1);
        a.make_named();
        a.unlock(1, blocking);
        d.rank(1).compute(1'000'000);
        d.program().borders.push_back(first_free_cell + 2);
        run(d.finish());
    }
}

} // namespace sidelight::sim
