// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <gtest/gtest.h>

#include "scenario.hpp"

/// What a trace says of runs whose course is known.
namespace sidelight::sim {

namespace {

using trace::Event;

class Traces : public Scenarios {};

const trace::Record* find(const Notebook& notebook, Event event, rma::EpochKind kind)
{
    const auto& records = notebook.records();
    const auto found = std::find_if(records.begin(), records.end(), [&](const auto& record) {
        return record.event == event && record.detail == static_cast<int>(kind);
    });
    return found != records.end() ? &*found : nullptr;
}

} // namespace

/// Late Post: the origin's epoch is active and closed long before its target grants it.
TEST_P(Traces, ShowWhatALatePostHoldsUp)
{
    const Time late = 5'000'000;
    Draft d = draft(2);
    d.program().traced = true;
    Author origin = d.rank(0);
    origin.start({1});
    origin.write(Call::put, 1);
    origin.complete(blocking);
    Author target = d.rank(1);
    target.compute(late);
    target.post({0});
    target.wait(blocking);
    run(d.finish(), [&](World& world) {
        const Notebook& notebook = world.rank(0).notebook();
        const auto* opened = find(notebook, Event::epoch_opened, rma::EpochKind::access);
        const auto* closed = find(notebook, Event::epoch_closed, rma::EpochKind::access);
        const auto* granted = find(notebook, Event::epoch_granted, rma::EpochKind::access);
        const auto* completed = find(notebook, Event::epoch_completed, rma::EpochKind::access);
        ASSERT_TRUE(opened != nullptr && closed != nullptr && granted != nullptr &&
                    completed != nullptr);
        EXPECT_LT(opened->time, late);
        EXPECT_LT(closed->time, late);
        EXPECT_GE(granted->time, late);
        EXPECT_EQ(granted->peer, 1);
        EXPECT_GE(completed->time, granted->time);
        const auto* operation = find(notebook, Event::operation, rma::EpochKind::access);
        ASSERT_NE(operation, nullptr); // a put has the number 1, as access epochs
        EXPECT_EQ(operation->value, sizeof(std::uint64_t));
        EXPECT_EQ(operation->epoch, opened->epoch);
    });
}

/// An epoch that has nothing to do at a target that posts later has it among its peers all the
/// same.
TEST_P(Traces, ShowATargetThatNeedNotGrant)
{
    Draft d = draft(2);
    d.program().traced = true;
    Author origin = d.rank(0);
    origin.start({1});
    origin.complete(blocking);
    Author target = d.rank(1);
    target.compute(5'000'000);
    target.post({0});
    target.wait(blocking);
    run(d.finish(), [&](World& world) {
        const Notebook& notebook = world.rank(0).notebook();
        EXPECT_EQ(find(notebook, Event::epoch_granted, rma::EpochKind::access), nullptr);
        const auto* ungranted = find(notebook, Event::epoch_ungranted, rma::EpochKind::access);
        ASSERT_NE(ungranted, nullptr);
        EXPECT_EQ(ungranted->peer, 1);
    });
}

/// Behind an operation that raises a counter of its target, and behind no other.
TEST_P(Traces, ShowWhichOperationsNotify)
{
    Draft d = draft(2);
    d.program().traced = true;
    d.program().counters = 3;
    Author origin = d.rank(0);
    origin.lock(LockType::shared, 1);
    origin.make_notified(origin.write(Call::put, 1), 2);
    origin.write(Call::put, 1);
    origin.unlock(1, blocking);
    run(d.finish(), [&](World& world) {
        const auto& records = world.rank(0).notebook().records();
        const auto is_notified = [](const auto& record) { return record.event == Event::notified; };
        EXPECT_EQ(std::count_if(records.begin(), records.end(), is_notified), 1);
        const auto found = std::find_if(records.begin(), records.end(), is_notified);
        ASSERT_NE(found, records.end());
        EXPECT_EQ(found->peer, 1);
        EXPECT_EQ(found->value, 2U);
    });
}

INSTANTIATE_TEST_SUITE_P(OnNodes, Traces, testing::Values(1, 64));

} // namespace sidelight::sim
