// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "lone_process.hpp"

/// When a window may be destroyed, and its memory used for something else; and when a fence ends.
namespace sidelight::rma {
namespace {

class Closing : public LoneProcess {
protected:
    Closing() : window_(&make_window(7)) {}

    /// Another member reads so much that the answer leaves straight from the memory.
    void let_read_long(int rank)
    {
        hear_from(rank, 7, MessageKind::get, GetBody{.operation = 1, .bytes = 8192});
        ASSERT_NE(fabric_.leaving, nullptr);
    }

    Request closed_;
    Window* window_;
};

TEST_F(Closing, WaitsForTheOthers)
{
    ASSERT_EQ(window_->close(&closed_), Status::ok);
    process_.progress();
    EXPECT_FALSE(closed_.complete);
    EXPECT_FALSE(window_->closed());
    let_others_arrive(1);
    EXPECT_TRUE(closed_.complete);
    EXPECT_EQ(closed_.status, Status::ok);
    EXPECT_TRUE(window_->closed());
}

TEST_F(Closing, WaitsForAnswersThatAreReadFromItsMemory)
{
    let_read_long(1);
    ASSERT_EQ(window_->close(&closed_), Status::ok);
    let_others_arrive(1);
    EXPECT_FALSE(window_->closed());
    fabric_.let_leave();
    process_.progress();
    EXPECT_TRUE(window_->closed());
    EXPECT_EQ(closed_.status, Status::ok);
}

/// It waits for nobody, but the fabric still reads what it sends to whoever is lost, or works on.
TEST_F(Closing, OfABrokenWindowWaitsForThemToo)
{
    for (const int reader : {1, 2}) {
        SCOPED_TRACE(reader);
        Window& window = make_window(10 + static_cast<std::uint64_t>(reader));
        hear_from(1, window.id(), MessageKind::probe);
        hear_from(reader, window.id(), MessageKind::get, GetBody{.operation = 1, .bytes = 8192});
        ASSERT_NE(fabric_.leaving, nullptr);
        hear_from(2, window.id(), MessageKind::lost, LostBody{.rank = 1});
        Request closed;
        ASSERT_EQ(window.close(&closed), Status::ok);
        process_.progress();
        EXPECT_FALSE(window.closed());
        fabric_.let_leave();
        process_.progress();
        EXPECT_TRUE(window.closed());
        EXPECT_EQ(closed.status, Status::lost);
        process_.destroy_window(window);
        EXPECT_EQ(fabric_.last_peer, 2);
        EXPECT_EQ(fabric_.last_kind(), MessageKind::lost);
        EXPECT_EQ(fabric_.last_body<LostBody>().rank, 0);
    }
}

/// A closed window is not yet destroyed: what still comes may not begin to read its memory.
TEST_F(Closing, NothingIsReadAfterIt)
{
    hear_from(1, 7, MessageKind::probe);
    process_.lost(1);
    ASSERT_EQ(window_->close(&closed_), Status::ok);
    process_.progress();
    ASSERT_TRUE(window_->closed());
    const int before = fabric_.sent(MessageKind::lost);
    hear_from(2, 7, MessageKind::get, GetBody{.operation = 1, .bytes = 8192});
    EXPECT_EQ(fabric_.leaving, nullptr);
    const Framed<PutBody> put{.header = {.kind = MessageKind::put, .origin = 2, .window = 7},
                              .body = {.zero_copy = 1}};
    EXPECT_EQ(process_.place(2, put.bytes(), 8192), nullptr);
    EXPECT_EQ(fabric_.sent(MessageKind::lost), before + 2);
    EXPECT_EQ(fabric_.last_peer, 2);
    EXPECT_EQ(fabric_.last_kind(), MessageKind::lost);
}

class FenceEnd : public Closing {
protected:
    static constexpr std::size_t long_bytes = 8192;
    FenceEnd()
        : put_({.header = {.kind = MessageKind::put, .origin = 1, .window = 7},
                .body = {.zero_copy = 1}})
    {
        fence(1);
        EXPECT_NE(process_.place(1, put_.bytes(), long_bytes), nullptr); // and is being written
        EXPECT_EQ(window_->fence({}, &ended_), Status::ok);
        process_.progress();
        EXPECT_FALSE(ended_.complete);
    }
    void fence(std::uint64_t barrier)
    {
        EXPECT_EQ(window_->fence({}, nullptr), Status::ok);
        let_others_arrive(barrier);
    }

    Framed<PutBody> put_;
    Request ended_;
};

/// Who has come to it has nothing under way: what is being written is of the next epoch.
TEST_F(FenceEnd, DoesNotWaitForWhatIsWrittenInTheNextEpoch)
{
    let_others_arrive(2);
    EXPECT_TRUE(ended_.complete);
    EXPECT_EQ(ended_.status, Status::ok);
}

/// Nothing follows it, and its memory is freed: there nobody is believed to have nothing under way.
TEST_F(FenceEnd, TheLastWaitsForWhatIsWritten)
{
    let_others_arrive(2);
    ASSERT_TRUE(ended_.complete);
    Request freed;
    EXPECT_EQ(window_->close(&freed), Status::ok);
    let_others_arrive(3);
    EXPECT_FALSE(freed.complete);
    process_.placed(1, put_.bytes(), long_bytes);
    process_.progress();
    EXPECT_TRUE(freed.complete);
}

/// Who has lost another one gives up, but the fabric goes on.
TEST_F(FenceEnd, WaitsForWhatIsWrittenWhereTheWindowIsBroken)
{
    hear_from(1, 7, MessageKind::lost, LostBody{.rank = 2});
    process_.progress();
    EXPECT_FALSE(ended_.complete);
    process_.placed(1, put_.bytes(), long_bytes);
    process_.progress();
    EXPECT_TRUE(ended_.complete);
    EXPECT_EQ(ended_.status, Status::lost);
}

} // namespace
} // namespace sidelight::rma
