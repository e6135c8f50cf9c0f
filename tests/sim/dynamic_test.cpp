// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "scenario.hpp"

/// Dynamic windows, where each operation finds its own route: by hand.
namespace sidelight::sim {

namespace {

/// Two ranks on one node; the memory of each is attached in two regions, which touch in the middle
/// of what is written first.
Draft two_regions(bool direct)
{
    Draft d(2, 2);
    d.program().dynamic = true;
    d.program().direct = direct;
    d.program().progress_percent = 0;
    d.program().borders = {first_free_cell + 1};
    return d;
}

} // namespace

/// An accumulate over both regions goes by messages, to a target that computes. What reads one of
/// its elements afterwards, in the same epoch, comes after it (MPI-4.1, 12.7.2).
TEST(TouchingRegions, AccumulatesKeepTheirOrder)
{
    for (const bool direct : {false, true}) {
        for (const bool fence : {false, true}) {
            Draft d = two_regions(direct);
            Author a = d.rank(0);
            fence ? a.fence(blocking) : a.lock(LockType::shared, 1);
            const auto warm = a.write(Call::accumulate, 1, 2);
            a.fetch(warm, 1, 1);
            if (!fence) {
                a.flush(1, FlushScope::remote, blocking);
            }
            const auto both = a.write(Call::accumulate, 1, 2);
            a.make_bare();
            a.fetch(both, 0, 1);
            a.fetch(both, 1, 1);
            fence ? a.fence(blocking) : a.unlock(1, blocking);
            Author b = d.rank(1);
            if (fence) {
                b.fence(blocking);
            }
            b.compute(1'000'000);
            if (fence) {
                b.fence(blocking);
            }
            d.program().borders.push_back(first_free_cell + 3);
            run(d.finish());
        }
    }
}

/// So it does in the next epoch, which need not wait for the end of the closed one.
TEST(TouchingRegions, AccumulatesKeepTheirOrderOverEpochs)
{
    for (const bool direct : {false, true}) {
        Draft d = two_regions(direct);
        d.program().reorder.assign(2, {true, true, true, true});
        const Time late = 1'000'000;
        Author a = d.rank(0);
        a.lock(LockType::shared, 1);
        const auto warm = a.write(Call::accumulate, 1, 2);
        a.fetch(warm, 0, 1); // the regions are known from now on
        a.fetch(warm, 1, 1);
        a.flush(1, FlushScope::remote, blocking);
        const auto both = a.write(Call::accumulate, 1, 2);
        a.make_bare();
        a.unlock(1, nonblocking);
        a.lock(LockType::shared, 1);
        a.fetch(both, 0, 1);
        a.fetch(both, 1, 1);
        a.unlock(1, blocking);
        d.rank(1).compute(late);
        d.program().borders.push_back(first_free_cell + 3);
        run(d.finish());
    }
}

} // namespace sidelight::sim
