// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <gtest/gtest.h>

#include "lone_process.hpp"

/// What sidelight_dump tells of epochs.
namespace sidelight::rma {
namespace {

class Description : public LoneProcess {
protected:
    Description() : window_(&make_window(7)) {}

    [[nodiscard]] bool tells(const char* what) const
    {
        std::string text;
        window_->describe(
            [](void* all, const char* line) { *static_cast<std::string*>(all) += line; }, &text);
        return text.find(what) != std::string::npos;
    }

    Request request_;
    Window* window_;
};

TEST_F(Description, AFenceWaitsForAllMembers)
{
    ASSERT_EQ(window_->fence({}, nullptr), Status::ok);
    process_.progress();
    EXPECT_TRUE(tells("fence epoch, active, open, not granted, not done"));
    EXPECT_TRUE(tells("waits for all members"));
    let_others_arrive(1);
    EXPECT_TRUE(tells("fence epoch, active, open, granted, not done"));
    EXPECT_TRUE(tells("waits for nobody"));
    ASSERT_EQ(window_->fence({}, &request_), Status::ok);
    process_.progress();
    EXPECT_TRUE(tells("fence epoch, active, closed, granted, not done"));
    EXPECT_TRUE(tells("waits for all members"));
}

TEST_F(Description, OtherEpochsNameTheFirstPeer)
{
    ASSERT_EQ(window_->lock(LockType::exclusive, 2, {}, nullptr), Status::ok);
    process_.progress();
    EXPECT_TRUE(tells("lock epoch, active, open, 0 of 1 peers granted, 0 done"));
    EXPECT_TRUE(tells("first waits for rank 2"));
}

} // namespace
} // namespace sidelight::rma
