// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include "datatype/basic_layout.hpp"
#include "lone_process.hpp"

/// A get whose answer the fabric still writes when its target is lost: its buffer is the program's
/// again when the fabric has ended that.
namespace sidelight::rma {
namespace {

class LongAnswer : public LoneProcess {
protected:
    LongAnswer()
    {
        EXPECT_EQ(window_->lock(LockType::shared, 1, {}, nullptr), Status::ok);
        hear_from(1, 7, MessageKind::lock_grant, NoticeBody{.number = 1});
        process_.progress();
        const datatype::Layout& word = datatype::basic_layout(datatype::Basic::u64);
        Operation operation;
        operation.kind = OperationKind::get;
        operation.target = 1;
        operation.origin = {into_.data(), &word, into_.size()};
        operation.layout = &word;
        operation.count = into_.size();
        EXPECT_EQ(window_->issue(operation, &got_), Status::ok);
        answer_.body.operation = fabric_.last_body<GetBody>().operation;
        EXPECT_NE(process_.place(1, answer_.bytes(), sizeof into_), nullptr); // and is written
        hear_from(2, 7, MessageKind::lost, LostBody{.rank = 1});
        process_.progress();
        EXPECT_TRUE(window_->broken());
        EXPECT_FALSE(got_.complete);
        EXPECT_EQ(window_->unlock(1, &unlocked_), Status::ok);
        process_.progress();
        EXPECT_FALSE(unlocked_.complete);
    }

    void expect_end()
    {
        EXPECT_TRUE(got_.complete);
        EXPECT_EQ(got_.status, Status::lost);
        process_.progress();
        EXPECT_TRUE(unlocked_.complete);
        EXPECT_EQ(unlocked_.status, Status::lost);
        EXPECT_EQ(window_->close(&closed_), Status::ok);
        process_.progress();
        EXPECT_TRUE(window_->closed());
    }

    std::array<std::uint64_t, 1024> into_{};
    Framed<ReplyBody> answer_{.header = {.kind = MessageKind::reply, .origin = 1, .window = 7},
                              .body = {}};
    Request got_;
    Request unlocked_;
    Request closed_;
    Window* window_ = &make_window(7);
};

TEST_F(LongAnswer, EndsTheOperationWhenItIsWritten)
{
    process_.placed(1, answer_.bytes(), sizeof into_);
    expect_end();
}

TEST_F(LongAnswer, EndsTheOperationWhenTheFabricHasLostTheTarget)
{
    process_.lost(1);
    expect_end();
}

} // namespace
} // namespace sidelight::rma
