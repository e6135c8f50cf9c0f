// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>

#include <gtest/gtest.h>

#include "lone_process.hpp"

/// Whose flush tells of an operation that was not performed, in a window with thread scope.
namespace sidelight::rma {
namespace {

class ThreadFailure : public LoneProcess {
protected:
    ThreadFailure()
    {
        window_ = &make_window(7);
        EXPECT_EQ(window_->lock(LockType::shared, 1, {}, nullptr), Status::ok);
        hear_from(1, 7, MessageKind::lock_grant, NoticeBody{.number = 1});
        process_.progress();
    }
    /// The target refuses it.
    void fail(ThreadNumber thread)
    {
        Operation operation = get_of_word(1, into_);
        operation.thread = thread;
        operation.displacement = 64;
        ASSERT_EQ(window_->issue(operation, nullptr), Status::ok);
        const auto asked = fabric_.last_body<GetBody>().operation;
        hear_from(1, 7, MessageKind::refused,
                  RefusedBody{.operation = asked,
                              .status = static_cast<std::uint8_t>(Status::rma_range)});
    }
    Status flush(int target, ThreadNumber thread)
    {
        Request request;
        EXPECT_EQ(window_->flush(target, FlushScope::remote, &request, thread), Status::ok);
        EXPECT_TRUE(request.complete);
        return request.status;
    }

    std::uint64_t into_ = 0;
    Window* window_;
};

TEST_F(ThreadFailure, IsToldToTheThreadAlone)
{
    for (const int target : {1, all_targets}) {
        SCOPED_TRACE(target);
        fail(2);
        EXPECT_EQ(flush(target, 1), Status::ok);
        EXPECT_EQ(flush(all_targets, 1), Status::ok);
        EXPECT_EQ(flush(target, 2), Status::rma_range);
        EXPECT_EQ(flush(target, 2), Status::ok);
    }
}

TEST_F(ThreadFailure, IsToldToTheProcess)
{
    fail(2);
    EXPECT_EQ(flush(1, no_thread), Status::rma_range);
    EXPECT_EQ(flush(1, 2), Status::ok);
}

TEST_F(ThreadFailure, OfSeveralIsToldToAny)
{
    fail(2);
    fail(3);
    EXPECT_EQ(flush(1, 1), Status::rma_range);
    EXPECT_EQ(flush(1, 2), Status::ok);
}

} // namespace
} // namespace sidelight::rma
