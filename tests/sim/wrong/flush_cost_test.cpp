// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "rma/rules.hpp"
#include "unit/lone_process.hpp"

/// What operations cost while many flushes wait for them. The engine of this build counts how often
/// it asks whether a flush waits for an operation.
namespace sidelight::rma {

namespace {

constexpr std::size_t flushes = 10'000;
constexpr std::uint64_t most_asked = 15; ///< for an operation: the steps of a search among those

/// A get behind a get, and a flush behind each, all of them waiting. The newest that is under way
/// is answered first.
class FlushCost : public LoneProcess {
protected:
    FlushCost()
    {
        window_ = &make_window(7);
        EXPECT_EQ(window_->lock(LockType::shared, 1, {}, nullptr), Status::ok);
        hear_from(1, 7, MessageKind::lock_grant, NoticeBody{.number = 1});
        process_.progress();
    }
    void get() { ASSERT_EQ(window_->issue(get_of_word(1, into_), nullptr), Status::ok); }
    void note_asked()
    {
        if (fabric_.sent(MessageKind::get) != sent_) {
            ++sent_;
            ASSERT_EQ(fabric_.sent(MessageKind::get), sent_);
            asked_.push_back(fabric_.last_body<GetBody>().operation);
        }
    }
    void answer()
    {
        Framed<ReplyBody> reply{.header = {.kind = MessageKind::reply, .origin = 1, .window = 7},
                                .body = {.operation = asked_.back()}};
        const std::span<const std::byte> framed = reply.bytes();
        std::vector<std::byte> message(framed.begin(), framed.end());
        message.resize(message.size() + sizeof into_);
        asked_.pop_back();
        process_.receive(1, message);
        process_.progress();
        note_asked();
    }

    std::uint64_t into_ = 0;
    int sent_ = 0;
    std::vector<decltype(GetBody::operation)> asked_; ///< not answered yet
    Window* window_;
};

} // namespace

TEST_F(FlushCost, OfAnOperationIsASearch)
{
    for (const int target : {1, all_targets}) {
        std::vector<Request> requests(flushes);
        for (Request& request : requests) {
            get();
            note_asked();
            ASSERT_EQ(window_->flush(target, FlushScope::remote, &request), Status::ok);
        }
        rules::flushes_asked = 0;
        while (asked_.size() > 1) {
            answer();
        }
        EXPECT_FALSE(requests.front().complete); // and all behind it
        answer();
        for (const Request& request : requests) {
            ASSERT_TRUE(request.complete);
        }
        std::printf("%.1f for an operation\n",
                    static_cast<double>(rules::flushes_asked) / static_cast<double>(flushes));
        EXPECT_LE(rules::flushes_asked, most_asked * flushes);
    }
}

} // namespace sidelight::rma
