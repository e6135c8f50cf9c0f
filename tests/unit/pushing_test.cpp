// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>

#include <gtest/gtest.h>

#include "datatype/basic_layout.hpp"
#include "lone_process.hpp"

/// What leaves at once and what is held back, so that a program that computes next has its first
/// messages on their way.
namespace sidelight::rma {
namespace {

class Pushing : public LoneProcess {
protected:
    Pushing() : window_(&make_window(7)) {}

    /// Whether it leaves at once.
    bool put(int target)
    {
        const datatype::Layout& word = datatype::basic_layout(datatype::Basic::u64);
        Operation operation;
        operation.kind = OperationKind::put;
        operation.target = target;
        operation.origin = {&value_, &word, 1};
        operation.layout = &word;
        operation.count = 1;
        const int before = fabric_.pushes;
        EXPECT_EQ(window_->issue(operation, nullptr), Status::ok);
        process_.push();
        return fabric_.pushes != before;
    }

    std::uint64_t value_ = 1;
    Window* window_;
};

TEST_F(Pushing, FirstPutToEachTargetLeavesAtOnce)
{
    ASSERT_EQ(window_->fence({}, nullptr), Status::ok);
    let_others_arrive(1);
    EXPECT_TRUE(put(1));
    EXPECT_TRUE(put(2));
    EXPECT_FALSE(put(1));
    EXPECT_FALSE(put(2));
}

TEST_F(Pushing, ClosingCallLetsAllLeave)
{
    ASSERT_EQ(window_->lock(LockType::shared, 1, {.no_check = true}, nullptr), Status::ok);
    EXPECT_TRUE(put(1));
    EXPECT_FALSE(put(1));
    const int before = fabric_.pushes;
    ASSERT_EQ(window_->unlock(1, nullptr), Status::ok);
    process_.push();
    EXPECT_GT(fabric_.pushes, before);
}

/// All members share a node, but not their memory.
class PollingMemory : public Pushing {
protected:
    static constexpr int polls = 10;
    static constexpr std::array<std::int32_t, 3> all{0, 1, 2};

    PollingMemory()
    {
        members_.bring_near(1);
        members_.bring_near(2);
        members_.dynamic = true; // nothing is mapped
        WindowShape shape;
        shape.id = 8;
        shape.size = 3;
        shape.members = &members_;
        shape.neighbours = all;
        shape.barrier = {.word = &word_, .node = 0, .leaders = self_};
        window_ = &process_.create_window(shape);
        EXPECT_EQ(window_->fence({}, nullptr), Status::ok);
        word_.arrivals += 2; // the others
        process_.progress();
    }
    /// How often a fence looks at memory, until it leaves the rest to the waiting call.
    int looks_of_fence()
    {
        const int before = fabric_.looks;
        EXPECT_EQ(window_->fence({}, nullptr, true, polls), Status::ok);
        return fabric_.looks - before;
    }
};

TEST_F(PollingMemory, GoesOnForSomeTime) { EXPECT_GE(looks_of_fence(), polls); }

TEST_F(PollingMemory, EndsWhenAMessageHasCome)
{
    fabric_.comes = true;
    EXPECT_EQ(looks_of_fence(), 1);
}

TEST_F(PollingMemory, IsLeftOutWhereAnAnswerIsNeeded)
{
    put(1);
    put(1); // held back
    const int before = fabric_.pushes;
    EXPECT_EQ(looks_of_fence(), 0);
    process_.push();
    EXPECT_GT(fabric_.pushes, before);
}

} // namespace
} // namespace sidelight::rma
