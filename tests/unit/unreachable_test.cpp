// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>

#include "datatype/basic_layout.hpp"
#include "lone_process.hpp"

/// A fabric that cannot send: who is told, and what nobody waits for.
namespace sidelight::rma {
namespace {

class Unreachable : public LoneProcess {
protected:
    Unreachable() : window_(&make_window(7)) {}

    Operation operation(OperationKind kind, int target, std::size_t words)
    {
        const datatype::Layout& word = datatype::basic_layout(datatype::Basic::u64);
        Operation operation;
        operation.kind = kind;
        operation.target = target;
        operation.origin = {values_.data(), &word, words};
        operation.layout = &word;
        operation.count = words;
        return operation;
    }

    std::array<std::uint64_t, 1100> values_{};
    Window* window_;
};

TEST_F(Unreachable, MemberIsLostAndTheOthersAreTold)
{
    fabric_.unreachable = 1;
    Request unlocked;
    ASSERT_EQ(window_->lock(LockType::shared, 1, {}, nullptr), Status::ok);
    EXPECT_TRUE(window_->broken());
    EXPECT_EQ(window_->issue(operation(OperationKind::put, 1, 1), nullptr), Status::lost);
    ASSERT_EQ(window_->unlock(1, &unlocked), Status::ok);
    process_.progress();
    EXPECT_TRUE(unlocked.complete);
    EXPECT_EQ(unlocked.status, Status::lost);
    EXPECT_EQ(fabric_.last_peer, 2);
    EXPECT_EQ(fabric_.last_kind(), MessageKind::lost);
    EXPECT_EQ(fabric_.last_body<LostBody>().rank, 1);
    EXPECT_EQ(window_->lock(LockType::shared, 1, {}, nullptr), Status::lost);
    EXPECT_EQ(window_->lock(LockType::shared, 2, {}, nullptr), Status::ok);
    EXPECT_FALSE(window_->target(2).lost);
}

/// What is under way to it ends with its request, and no later message leaves that would come
/// without what was before it.
TEST_F(Unreachable, OperationsUnderWayEnd)
{
    ASSERT_EQ(window_->lock(LockType::shared, 1, {.no_check = true}, nullptr), Status::ok);
    Request before;
    Request after;
    ASSERT_EQ(window_->issue(operation(OperationKind::get, 1, 1), &before), Status::ok);
    fabric_.unreachable = 1;
    ASSERT_EQ(window_->issue(operation(OperationKind::get, 1, 1), &after), Status::ok);
    fabric_.unreachable = -1;
    const int gets = fabric_.sent(MessageKind::get);
    process_.progress();
    for (const Request& request : {before, after}) {
        EXPECT_TRUE(request.complete);
        EXPECT_EQ(request.status, Status::lost);
    }
    EXPECT_EQ(window_->issue(operation(OperationKind::get, 1, 1), nullptr), Status::lost);
    EXPECT_EQ(fabric_.sent(MessageKind::get), gets);
}

/// One that is not taken was not begun: the operation fails, and nobody is lost.
TEST_F(Unreachable, ZeroCopyPutThatIsNotTakenFailsAlone)
{
    ASSERT_EQ(window_->lock(LockType::shared, 1, {.no_check = true}, nullptr), Status::ok);
    fabric_.unreachable = 1;
    Request put;
    ASSERT_EQ(window_->issue(operation(OperationKind::put, 1, values_.size()), &put), Status::ok);
    fabric_.unreachable = -1;
    process_.progress();
    EXPECT_TRUE(put.complete);
    EXPECT_EQ(put.status, Status::no_memory);
    EXPECT_FALSE(window_->broken());
    // The next one has the number that this one has not used: the target waits for none.
    ASSERT_EQ(window_->issue(operation(OperationKind::put, 1, values_.size()), nullptr),
              Status::ok);
    Request unlocked;
    ASSERT_EQ(window_->unlock(1, &unlocked), Status::ok);
    process_.progress();
    EXPECT_FALSE(unlocked.complete);
}

/// An origin whose zero-copy answer is not taken is told that it gets none.
TEST_F(Unreachable, ZeroCopyAnswerThatIsNotTakenIsRefused)
{
    fabric_.long_answer = Status::no_memory;
    hear_from(1, 7, MessageKind::get, GetBody{.operation = 5, .bytes = 8192});
    EXPECT_EQ(fabric_.last_kind(), MessageKind::refused);
    EXPECT_EQ(fabric_.last_body<RefusedBody>().operation, 5U);
    EXPECT_EQ(fabric_.last_body<RefusedBody>().status,
              static_cast<std::uint8_t>(Status::no_memory));
    EXPECT_FALSE(window_->broken());
}

} // namespace
} // namespace sidelight::rma
