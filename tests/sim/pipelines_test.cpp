// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>
#include <vector>

#include <gtest/gtest.h>

#include "scenario.hpp"

/// Blocks that are fetched, computed on and put back (P3, figures 2 and 5c), where cards copy.
namespace sidelight::sim {

namespace {

constexpr int blocks = 25;
constexpr std::size_t words = 4096; ///< of a block
constexpr Time byte_time = 5;       ///< ns
constexpr Time copying = 2 * words * 8 * byte_time;
constexpr Time computing = copying + copying / 10; ///< of a block

enum class Way { locks, requests };

/// The next block is on its way while one is computed on; what was computed is put by itself.
void use_locks(Author& a, const std::vector<Shown>& shown)
{
    a.lock(LockType::shared, 1);
    a.get(1, shown[0]);
    a.unlock(1, blocking);
    for (std::size_t block = 0; block < blocks; ++block) {
        a.lock(LockType::shared, 1);
        if (block + 1 < blocks) {
            a.get(1, shown[block + 1]);
        }
        a.compute(computing);
        a.unlock(1, blocking);
        a.lock(LockType::shared, 1);
        a.write(Call::put, 1, words);
        a.unlock(1, blocking);
    }
}

void use_requests(Author& a, const std::vector<Shown>& shown)
{
    a.lock(LockType::shared, 1);
    auto now = a.get(1, shown[0]);
    for (std::size_t block = 0; block < blocks; ++block) {
        const auto next = block + 1 < blocks ? a.get(1, shown[block + 1]) : now;
        a.wait_for({static_cast<int>(now)});
        a.compute(computing);
        a.write(Call::put, 1, words);
        now = next;
    }
    a.unlock(1, blocking);
}

/// Virtual time from the first block to the last, the longest of some runs.
Time time_of(Way way, unsigned native_percent, bool dynamic)
{
    Draft d(2, 1);
    d.program().progress_percent = 0;
    d.program().costs.native_percent = native_percent;
    d.program().costs.byte_ps = 1000 * byte_time;
    d.program().dynamic = dynamic;
    Author owner = d.rank(1);
    Author a = d.rank(0);
    std::vector<Shown> shown;
    for (int block = 0; block < blocks; ++block) {
        shown.push_back(owner.expose(words));
    }
    owner.meet();
    a.meet();
    a.lock(LockType::shared, 1); // what is asked for once has come
    a.write(Call::put, 1);
    a.unlock(1, blocking);
    const auto first = a.compute(0);
    way == Way::locks ? use_locks(a, shown) : use_requests(a, shown);
    const std::size_t last = a.length() - 1;
    Time longest = 0;
    run(d.finish(), [&](World& world) {
        const Time taken = world.rank(0).times(last).done - world.rank(0).times(first).called;
        longest = std::max(longest, taken);
    });
    return longest;
}

} // namespace

/// Neither processor copies, so all of it hides behind the computation.
TEST(Pipelines, ReachTheLongerOfComputingAndCopying)
{
    for (const bool dynamic : {false, true}) {
        const auto requests = static_cast<double>(time_of(Way::requests, 100, dynamic));
        const auto locks = static_cast<double>(time_of(Way::locks, 100, dynamic));
        std::printf("of computing %.3f, of locks %.3f\n", requests / (blocks * computing),
                    requests / locks);
        EXPECT_LT(requests, 1.05 * blocks * computing);
        EXPECT_LT(requests, 0.75 * locks);
    }
}

/// By messages to an owner that is there, too.
TEST(Pipelines, AreNoSlowerThanLocksByMessages)
{
    EXPECT_LE(time_of(Way::requests, 0, false), time_of(Way::locks, 0, false));
}

} // namespace sidelight::sim
