// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>

#include <gtest/gtest.h>

#include "datatype/basic_layout.hpp"
#include "lone_process.hpp"
#include "rma/channel/active_wire.hpp"
#include "rma/engine/window_parts.hpp"

/// A stream of active messages that never ends keeps no others from their turn.
namespace sidelight::rma {
namespace {

class NoCalls final : public ActiveCaller {
public:
    void call(const ActiveInvocation& /*with*/) noexcept override {}
};

class ActiveTurns : public LoneProcess {
protected:
    ActiveTurns()
    {
        for (Window* window : {&first_, &second_}) {
            window->parts().active.handlers.push_back(this);
        }
    }

    void hear_message(int rank, std::uint64_t window)
    {
        ActiveBody body{.operation = ++operations_};
        body.segments = 1;
        body.number = 1;
        hear_from(rank, window, MessageKind::active, body);
    }
    /// One more of the stream has always come when one is taken.
    template <class Wanted>
    [[nodiscard]] bool comes_to(Wanted wanted)
    {
        hear_message(1, 7);
        for (unsigned taken = 0; taken < 2 * most_active_in_a_row; ++taken) {
            hear_message(1, 7);
            ActiveJob job;
            if (!process_.take_active(job)) {
                return false;
            }
            const bool found = wanted(job);
            NoCalls caller;
            Process::run_active(job, caller);
            Process::finish_active(job);
            if (found) {
                return true;
            }
        }
        return false;
    }

    Window& first_ = make_window(7);
    Window& second_ = make_window(8);
    std::uint64_t operations_ = 0;
};

TEST_F(ActiveTurns, OtherWindowsHaveTheirs)
{
    hear_message(1, 7);
    hear_message(2, 8);
    EXPECT_TRUE(comes_to([](const ActiveJob& job) { return job.window->id() == 8; }));
}

TEST_F(ActiveTurns, MessagesToOneselfHaveTheirs)
{
    const datatype::Layout& word = datatype::basic_layout(datatype::Basic::u64);
    const ActiveCall call{.segments = 1};
    Operation operation;
    operation.kind = OperationKind::active_message;
    operation.layout = &word;
    operation.count = 1;
    operation.active = &call;
    operation.request_scope = FlushScope::remote;
    ASSERT_EQ(first_.lock(LockType::exclusive, 0, {}, nullptr), Status::ok);
    Request over;
    ASSERT_EQ(first_.issue(operation, &over), Status::ok);
    ASSERT_FALSE(over.complete);
    EXPECT_TRUE(comes_to([](const ActiveJob& job) { return job.here != nullptr; }));
    EXPECT_TRUE(over.complete);
    EXPECT_EQ(over.status, Status::ok);
}

} // namespace
} // namespace sidelight::rma
