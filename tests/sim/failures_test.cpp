// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scenario.hpp"

/// Operations that fail when their turn has come, in dynamic windows: who tells of them.
namespace sidelight::sim {

/// How the calls of rank 0 end that wait after an operation without a request has failed.
class Failures : public testing::TestWithParam<int> {
protected:
    /// Rank 0 asks for the lock of rank 1, which holds it itself.
    static Draft waiting(bool direct)
    {
        Draft d(3, GetParam());
        d.program().dynamic = true;
        d.program().direct = direct;
        d.program().progress_percent = 0;
        d.rank(1).lock(LockType::exclusive, 1);
        d.rank(1).await_grant(1);
        d.rank(1).meet();
        d.rank(1).compute(10'000);
        d.rank(1).unlock(1, blocking);
        d.rank(1).compute(10'000);
        d.rank(1).meet();
        d.rank(2).meet();
        d.rank(2).meet();
        d.rank(0).meet();
        d.rank(0).lock(LockType::shared, 1);
        return d;
    }
    /// The same, and it issues an operation that will fail.
    static Draft draft(bool direct)
    {
        Draft d = waiting(direct);
        d.rank(0).stray(1);
        d.rank(0).make_bare();
        return d;
    }

    static void expect(const Program& program, const std::vector<std::size_t>& ok,
                       std::size_t failed)
    {
        run(program, [&](World& world) {
            for (const std::size_t step : ok) {
                EXPECT_EQ(world.rank(0).status(step), Status::ok) << step;
            }
            EXPECT_EQ(world.rank(0).status(failed), Status::rma_range);
        });
    }
};

INSTANTIATE_TEST_SUITE_P(Node, Failures, testing::Values(1, 3),
                         [](const auto& node) { return "of" + std::to_string(node.param); });

/// The flush of its target tells, once, and no other.
TEST_P(Failures, AreToldByTheNextFlushOfTheTarget)
{
    for (const bool direct : {false, true}) {
        for (const bool all : {false, true}) {
            Draft d = draft(direct);
            Author a = d.rank(0);
            a.lock(LockType::shared, 2);
            a.write(Call::put, 2);
            a.meet(); // the lock is granted meanwhile
            const auto other = a.flush(2, FlushScope::remote, blocking);
            const auto told = a.flush(all ? rma::all_targets : 1, FlushScope::remote, blocking);
            const auto again = a.flush(1, FlushScope::remote, blocking);
            const auto unlock = a.unlock(1, blocking);
            const auto last = a.unlock(2, blocking);
            expect(d.finish(), {other, again, unlock, last}, told);
        }
    }
}

/// So does one that has waited for it from before.
TEST_P(Failures, AreToldByAFlushThatWaits)
{
    Draft d = draft(true);
    Author a = d.rank(0);
    const auto told = a.flush(1, FlushScope::remote, nonblocking);
    a.meet();
    a.wait_for({static_cast<int>(told)});
    const auto again = a.flush(1, FlushScope::remote, blocking);
    const auto unlock = a.unlock(1, blocking);
    expect(d.finish(), {again, unlock}, told);
}

TEST_P(Failures, AreToldByTheClosingCall)
{
    for (const bool waits : {false, true}) {
        Draft d = draft(true);
        Author a = d.rank(0);
        if (waits) {
            a.meet();
        }
        a.lock(LockType::shared, 2);
        const auto other = a.unlock(2, blocking);
        const auto told = a.unlock(1, blocking);
        if (!waits) {
            a.meet();
        }
        expect(d.finish(), {other}, told);
    }
}

/// Also where a flush has waited for it, too. By messages the request is complete before the target
/// refuses, and the flush tells.
TEST_P(Failures, AreToldByTheirRequestsAlone)
{
    for (const bool direct : {false, true}) {
        Draft d = waiting(direct);
        Author a = d.rank(0);
        const auto told = a.stray(1);
        const auto waited = a.flush(1, FlushScope::remote, nonblocking);
        a.meet();
        a.wait_for({static_cast<int>(waited)});
        const auto again = a.flush(1, FlushScope::remote, blocking);
        const auto unlock = a.unlock(1, blocking);
        const bool travels = GetParam() == 1;
        expect(d.finish(), {travels ? told : waited, again, unlock}, travels ? waited : told);
    }
}

/// One that waits for the target fails by all routes.
TEST_P(Failures, AreToldByTheRequestsThatWaitForTheTarget)
{
    for (const bool direct : {false, true}) {
        Draft d = waiting(direct);
        Author a = d.rank(0);
        const auto told = a.stray(1);
        a.make_remote();
        const auto waited = a.flush(1, FlushScope::remote, nonblocking);
        a.meet();
        a.wait_for({static_cast<int>(told), static_cast<int>(waited)});
        const auto again = a.flush(1, FlushScope::remote, blocking);
        const auto unlock = a.unlock(1, blocking);
        expect(d.finish(), {waited, again, unlock}, told);
    }
}

/// Recorded before the barrier of the fence is passed.
TEST_P(Failures, AreToldByTheNextFence)
{
    Draft d(3, GetParam());
    d.program().dynamic = true;
    d.program().direct = true;
    d.program().progress_percent = 0;
    Author a = d.rank(0);
    a.fence(nonblocking);
    a.stray(1);
    a.make_bare();
    a.meet();
    const auto told = a.fence(blocking);
    const auto next = a.fence(blocking);
    for (int rank = 1; rank < 3; ++rank) {
        d.rank(rank).compute(rank * Time{1000});
        d.rank(rank).fence(blocking);
        d.rank(rank).meet();
        d.rank(rank).fence(blocking);
        d.rank(rank).fence(blocking);
    }
    expect(d.finish(), {next}, told);
}

} // namespace sidelight::sim
