// SPDX-License-Identifier: BSD-3-Clause
#include "rma/operation.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "datatype/basic_layout.hpp"
#include "rma/channel/channel.hpp"
#include "rma/channel/life.hpp"
#include "rma/channel/order.hpp"

/// The life of an operation: its table, and what moves it from state to state.
namespace sidelight::rma {
namespace {

using enum OperationState;
using enum OperationEvent;

constexpr OperationState states[] = {recorded, leaving, sent, local, complete, illegal};
constexpr OperationEvent events[] = {begin, all_sent, buffers_free, all_answered};

TEST(OperationStates, AllowTheseStepsAndNoOthers)
{
    const std::map<std::pair<OperationState, OperationEvent>, OperationState> steps{
        {{recorded, begin}, leaving},
        {{leaving, all_sent}, sent},
        {{leaving, buffers_free}, local},    // what the fabric has read
        {{leaving, all_answered}, complete}, // performed at once, or given up
        {{sent, buffers_free}, local},
        {{sent, all_answered}, complete}, // what fetches is never local alone
        {{local, all_answered}, complete},
    };
    for (const OperationState state : states) {
        for (const OperationEvent event : events) {
            const auto step = steps.find({state, event});
            EXPECT_EQ(next_state(state, event), step != steps.end() ? step->second : illegal)
                << static_cast<int>(state) << ' ' << static_cast<int>(event);
        }
    }
}

/// One operation on its way by messages, and what is heard of it.
class OperationLifeTest : public testing::Test, protected OperationObserver {
protected:
    explicit OperationLifeTest(OperationKind kind = OperationKind::put)
    {
        const datatype::Layout& word = datatype::basic_layout(datatype::Basic::u64);
        op_.operation.kind = kind;
        op_.operation.layout = &word;
        op_.operation.count = 1;
        op_.operation.origin = {&value_, &word, 1};
        op_.request = &request_;
        join_order(op_, channel_, Road::messages);
        flight_ = flights_.take(op_, channel_);
        life_.observe(*this);
        life_.begin(op_);
    }

    void moved(Op& op, OperationState from) noexcept override
    {
        EXPECT_LT(from, op.state);
        seen_ = op.state;
        told_before_ = request_.complete;
    }
    /// Sent as so many fragments with an answer each.
    void send(std::uint32_t fragments)
    {
        flight_->replies = fragments;
        flight_->position = sizeof value_;
        channel_.in_flight = fragments;
    }

    std::uint64_t value_ = 0;
    Request request_;
    Op op_;
    Channel channel_;
    Flights flights_;
    OperationLife life_{flights_};
    Flight* flight_ = nullptr;
    OperationState seen_ = recorded;
    bool told_before_ = false; ///< its request was complete before its observer knew
};

class GetLifeTest : public OperationLifeTest {
protected:
    GetLifeTest() : OperationLifeTest(OperationKind::get) {}
};

TEST_F(OperationLifeTest, IsLocalWhenNothingIsReadAnyMoreAndCompleteWhenAnswered)
{
    send(1);
    flight_->reading = 1;
    life_.all_sent(*flight_);
    EXPECT_EQ(seen_, sent);
    EXPECT_FALSE(request_.complete);
    flight_->reading = 0;
    life_.settle(*flight_);
    EXPECT_EQ(seen_, local);
    EXPECT_TRUE(request_.complete);
    EXPECT_FALSE(told_before_);
    EXPECT_EQ(op_.request, nullptr);
    EXPECT_EQ(channel_.in_order, 1U);
    life_.fragment_answered(*flight_, Status::ok);
    EXPECT_EQ(seen_, complete);
    EXPECT_EQ(channel_.in_order, 0U);
    EXPECT_EQ(channel_.in_flight, 0U);
}

/// Its answer overtakes what tells that the fabric has read it.
TEST_F(OperationLifeTest, IsNotCompleteWhileItsBuffersAreInUse)
{
    send(1);
    flight_->reading = 1;
    life_.all_sent(*flight_);
    life_.fragment_answered(*flight_, Status::ok);
    EXPECT_EQ(seen_, sent);
    flight_->reading = 0;
    life_.settle(*flight_);
    EXPECT_EQ(seen_, complete);
    EXPECT_TRUE(request_.complete);
    EXPECT_EQ(request_.status, Status::ok);
}

/// Some answers are there before the last message has left.
TEST_F(OperationLifeTest, IsNotCompleteBeforeAllIsSent)
{
    send(1);
    life_.fragment_answered(*flight_, Status::ok);
    EXPECT_EQ(seen_, leaving);
    life_.all_sent(*flight_);
    EXPECT_EQ(seen_, complete);
}

TEST_F(OperationLifeTest, FailsForTheFirstReason)
{
    send(3);
    flight_->reading = 1;
    life_.all_sent(*flight_);
    for (const Status status : {Status::ok, Status::rma_range, Status::no_memory}) {
        life_.fragment_answered(*flight_, status);
    }
    flight_->reading = 0;
    life_.settle(*flight_);
    EXPECT_EQ(op_.failure, Status::rma_range);
    EXPECT_EQ(request_.status, Status::rma_range);
}

/// Its request has been told that it is complete here, and is the program's again.
TEST_F(OperationLifeTest, RequestHearsNothingAfterItIsComplete)
{
    send(1);
    life_.all_sent(*flight_);
    ASSERT_TRUE(request_.complete);
    life_.fragment_answered(*flight_, Status::rma_range);
    EXPECT_EQ(request_.status, Status::ok);
    EXPECT_EQ(op_.failure, Status::rma_range);
}

TEST_F(GetLifeTest, IsLocalWithTheLastAnswerOnly)
{
    send(2);
    life_.all_sent(*flight_);
    EXPECT_EQ(seen_, sent);
    life_.fragment_answered(*flight_, Status::ok);
    EXPECT_EQ(seen_, sent);
    EXPECT_FALSE(request_.complete);
    flight_->received = sizeof value_;
    life_.fragment_answered(*flight_, Status::ok);
    EXPECT_EQ(seen_, complete);
    EXPECT_EQ(request_.status, Status::ok);
}

TEST_F(GetLifeTest, FailsIfLessHasComeBackThanItAskedFor)
{
    send(1);
    flight_->received = sizeof value_ - 1;
    life_.all_sent(*flight_);
    life_.fragment_answered(*flight_, Status::ok);
    EXPECT_EQ(request_.status, Status::other);
}

/// A name is good for one use.
TEST_F(GetLifeTest, FlightIsFoundByItsNameUntilItIsOver)
{
    const std::uint64_t name = Flights::name(*flight_);
    EXPECT_EQ(flights_.find(name, channel_), flight_);
    EXPECT_EQ(flights_.find(name, Channel{}), nullptr);
    life_.all_sent(*flight_);
    ASSERT_EQ(seen_, complete);
    EXPECT_EQ(flights_.find(name, channel_), nullptr);
    Op next;
    EXPECT_EQ(flights_.take(next, channel_), flight_);
    EXPECT_EQ(flights_.find(name, channel_), nullptr);
}

/// A target that has refused none would take it for the one that it has.
TEST(FlightNames, AreNeverZero)
{
    Flights flights;
    Channel channel;
    Op op;
    Flight* first = flights.take(op, channel);
    while (first->number != 0) {
        first = flights.take(op, channel);
    }
    first->generation = ~0U; // used so often
    flights.give_back(*first);
    ASSERT_EQ(flights.take(op, channel), first);
    EXPECT_NE(Flights::name(*first), 0U);
    EXPECT_EQ(flights.find(Flights::name(*first), channel), first);
}

} // namespace
} // namespace sidelight::rma
