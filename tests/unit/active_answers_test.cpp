// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/active_answers.hpp"

#include <gtest/gtest.h>

namespace sidelight::runtime {
namespace {

using namespace std::chrono_literals;

/// A thread that runs one handler after the other.
class ActiveAnswersTest : public testing::Test {
protected:
    /// What an origin sent, for a handler: numbers stand for both.
    static rma::ActiveJob job(int origin, int handler)
    {
        rma::ActiveJob made;
        made.from = reinterpret_cast<const rma::Channel*>(&things[origin]);
        made.invocation.handler = &things[handler];
        return made;
    }
    void run(const rma::ActiveJob& which, std::chrono::microseconds takes)
    {
        answers_.begin(which, now_);
        now_ += takes;
        answers_.end(which, now_);
    }

    static inline int things[4] = {};
    ActiveAnswers answers_;
    Time now_ = 1s;
};

TEST_F(ActiveAnswersTest, WaitForOthersOfTheOrigin)
{
    run(job(0, 0), 5us);
    EXPECT_TRUE(answers_.may_wait_for(job(0, 0), true));
}

TEST_F(ActiveAnswersTest, DoNotWaitWhereNothingWasToFollow)
{
    run(job(0, 0), 5us);
    answers_.forget();
    EXPECT_FALSE(answers_.may_wait_for(job(0, 0), true));
}

TEST_F(ActiveAnswersTest, DoNotWaitForOtherOrigins)
{
    run(job(0, 0), 5us);
    EXPECT_FALSE(answers_.may_wait_for(job(1, 0), true));
}

TEST_F(ActiveAnswersTest, DoNotWaitForHandlersThatMayTakeLong)
{
    run(job(0, 0), 5us);
    EXPECT_FALSE(answers_.may_wait_for(job(0, 1), true)); // nobody knows how long
    run(job(0, 0), ActiveAnswers::short_handler + 1us);
    EXPECT_FALSE(answers_.may_wait_for(job(0, 0), true));
}

TEST_F(ActiveAnswersTest, DoNotWaitForMuchMoreThanWasTimed)
{
    rma::ActiveJob small = job(0, 0);
    small.invocation.segments = 1;
    small.invocation.input_count = 20;
    rma::ActiveJob large = small;
    large.invocation.segments = 40;
    run(small, 5us);
    EXPECT_TRUE(answers_.may_wait_for(small, true));
    run(small, 5us);
    EXPECT_FALSE(answers_.may_wait_for(large, true));
    run(large, 5us);
    EXPECT_TRUE(answers_.may_wait_for(large, true));
}

TEST_F(ActiveAnswersTest, DoNotWaitWhereOthersWereToldSomething)
{
    run(job(0, 0), 5us);
    EXPECT_FALSE(answers_.may_wait_for(job(0, 0), false));
}

TEST_F(ActiveAnswersTest, DoNotWaitForWhatThisProcessRunsForItself)
{
    rma::ActiveJob here;
    run(here, 5us);
    EXPECT_FALSE(answers_.may_wait_for(here, true));
}

TEST_F(ActiveAnswersTest, TheFirstOneIsNotKeptForLong)
{
    std::chrono::microseconds waits = 0us;
    run(job(0, 0), 10us);
    while (answers_.may_wait_for(job(0, 0), true)) {
        waits += 10us;
        ASSERT_LE(waits, ActiveAnswers::longest_wait);
        run(job(0, 0), 10us);
    }
    EXPECT_GE(waits, ActiveAnswers::longest_wait - 10us);
    run(job(0, 0), 10us); // and then the next ones are
    EXPECT_TRUE(answers_.may_wait_for(job(0, 0), true));
}

} // namespace
} // namespace sidelight::runtime
