// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

#include "datatype/basic_layout.hpp"
#include "fabric/mapped/mapped_peer_memory.hpp"
#include "lone_process.hpp"
#include "rma/channel/active_wire.hpp"
#include "rma/engine/window_parts.hpp"

/// What becomes of active messages that name a region when its owner releases it, and which long
/// messages that waits for.
namespace sidelight::rma {
namespace {

class NoCalls final : public ActiveCaller {
public:
    void call(const ActiveInvocation& /*with*/) noexcept override {}
};

struct Mappings {
    fabric::MappedPeerMemory maps;
};

class ReleasedRegion : private Mappings, public LoneProcess {
protected:
    ReleasedRegion() : LoneProcess(&maps), window_(&make_window(7, Flavor::dynamic))
    {
        window_->parts().active.handlers.push_back(this);
        EXPECT_EQ(regions().expose(reinterpret_cast<std::byte*>(memory_.data()), sizeof memory_,
                                   std::nullopt, false, name_),
                  Status::ok);
    }
    [[nodiscard]] HandleRegions& regions() const { return window_->parts().regions; }
    [[nodiscard]] std::uint64_t address() const
    {
        return reinterpret_cast<std::uintptr_t>(memory_.data());
    }

    void hear_message(std::uint64_t operation)
    {
        ActiveBody body{.operation = operation, .address = address(), .last = 8};
        body.region = name_;
        body.segments = 1;
        body.number = 1;
        hear_from(1, 7, MessageKind::active, body);
    }
    /// To this process's own region.
    void issue_own(HandleRegion& region, Request& request)
    {
        const datatype::Layout& word = datatype::basic_layout(datatype::Basic::u64);
        const ActiveCall call{.segments = 1};
        Operation operation;
        operation.kind = OperationKind::active_message;
        operation.region = &region;
        operation.layout = &word;
        operation.count = 1;
        operation.active = &call;
        operation.request_scope = FlushScope::remote;
        ASSERT_EQ(window_->issue(operation, &request), Status::ok);
        ASSERT_FALSE(request.complete);
    }

    std::array<std::uint64_t, 8> memory_{};
    RegionName name_ = no_region;
    Window* window_;
    ActiveJob job_;
};

TEST_F(ReleasedRegion, WhatWaitsForItsTurnIsRefused)
{
    hear_message(1);
    hear_message(2);
    EXPECT_EQ(fabric_.sent(MessageKind::active_done), 0);
    ASSERT_EQ(regions().withdraw(name_), Status::ok);
    EXPECT_FALSE(regions().is_used(name_));
    EXPECT_EQ(fabric_.sent(MessageKind::active_done), 2);
    EXPECT_EQ(fabric_.last_body<ActiveDoneBody>().status,
              static_cast<std::uint8_t>(Status::rma_range));
    EXPECT_FALSE(process_.take_active(job_));
}

TEST_F(ReleasedRegion, AHandlerThatIsInsideEnds)
{
    hear_message(1);
    hear_message(2);
    ASSERT_TRUE(process_.take_active(job_));
    ASSERT_EQ(regions().withdraw(name_), Status::ok);
    EXPECT_TRUE(regions().is_used(name_));
    EXPECT_EQ(fabric_.sent(MessageKind::active_done), 1); // the other one
    Process::finish_active(job_);
    EXPECT_FALSE(regions().is_used(name_));
    EXPECT_EQ(fabric_.last_body<ActiveDoneBody>().status, static_cast<std::uint8_t>(Status::ok));
    EXPECT_FALSE(process_.take_active(job_));
}

/// Another member may tell of a loss before what the lost one has sent is here. Nobody would end
/// that, and all that it excludes would wait for ever.
TEST_F(ReleasedRegion, WhatComesOfALostMemberIsDropped)
{
    hear_from(2, 7, MessageKind::lost, LostBody{.rank = 1});
    process_.progress();
    hear_message(1);
    hear_from(1, 7, MessageKind::active_reserve, ActiveReservationBody{.least = 8});
    EXPECT_FALSE(process_.take_active(job_));
    EXPECT_FALSE(regions().is_used(name_));
}

/// Long messages to two regions of this process.
class LongMessages : public ReleasedRegion {
protected:
    static constexpr std::size_t long_bytes = 8192;
    LongMessages()
    {
        EXPECT_EQ(regions().expose(long_.data(), long_bytes, std::nullopt, false, long_name_),
                  Status::ok);
    }
    [[nodiscard]] std::uint64_t uses(RegionName name) const
    {
        return window_->parts().memory.attached()->uses(name);
    }
    static Framed<PutBody> put(int rank, std::uint64_t address, RegionName name)
    {
        return {.header = {.kind = MessageKind::put,
                           .origin = static_cast<std::uint32_t>(rank),
                           .window = 7},
                .body = {.address = address, .operation = 1, .zero_copy = 1, .region = name}};
    }
    /// It is being written.
    void begin_put(int rank, RegionName name)
    {
        EXPECT_EQ(process_.place(rank, put(rank, long_address(), name).bytes(), long_bytes),
                  long_.data());
    }
    void end_put(int rank, RegionName name)
    {
        process_.placed(rank, put(rank, long_address(), name).bytes(), long_bytes);
    }
    [[nodiscard]] std::uint64_t long_address() const
    {
        return reinterpret_cast<std::uintptr_t>(long_.data());
    }

    std::array<std::byte, long_bytes> long_{};
    RegionName long_name_ = no_region;
};

/// Nobody waits for a member that has died in the middle of it, whatever others have under way.
TEST_F(LongMessages, WhatALostMemberWasWritingIsOver)
{
    begin_put(1, long_name_);
    begin_put(1, long_name_);
    const Framed<PutBody> elsewhere = put(2, address(), name_);
    ASSERT_NE(process_.place(2, elsewhere.bytes(), sizeof memory_), nullptr);
    ASSERT_EQ(regions().withdraw(long_name_), Status::ok);
    EXPECT_TRUE(regions().is_used(long_name_));
    process_.lost(1);
    EXPECT_FALSE(regions().is_used(long_name_));
    EXPECT_EQ(uses(long_name_), 0U);
    EXPECT_EQ(uses(name_), 1U);
    process_.placed(2, elsewhere.bytes(), sizeof memory_);
    EXPECT_EQ(uses(name_), 0U);
}

TEST_F(LongMessages, WhatOthersWriteThereIsWaitedFor)
{
    begin_put(1, long_name_);
    begin_put(2, long_name_);
    ASSERT_EQ(regions().withdraw(long_name_), Status::ok);
    process_.lost(1);
    EXPECT_TRUE(regions().is_used(long_name_));
    end_put(1, long_name_); // the fabric had it already: it counts for nobody
    EXPECT_TRUE(regions().is_used(long_name_));
    end_put(2, long_name_);
    EXPECT_FALSE(regions().is_used(long_name_));
}

/// The fabric says when it has finished with what it reads, also of a member that is lost.
TEST_F(LongMessages, WhatIsReadThereIsWaitedFor)
{
    hear_from(
        1, 7, MessageKind::get,
        GetBody{
            .address = long_address(), .operation = 1, .bytes = long_bytes, .region = long_name_});
    ASSERT_NE(fabric_.leaving, nullptr);
    ASSERT_EQ(regions().withdraw(long_name_), Status::ok);
    process_.lost(1);
    EXPECT_TRUE(regions().is_used(long_name_));
    fabric_.let_leave();
    EXPECT_FALSE(regions().is_used(long_name_));
}

TEST_F(ReleasedRegion, MessagesToOneselfLikewise)
{
    HandleRegion* region = nullptr;
    Mapped direct;
    ASSERT_EQ(regions().open({.name = name_,
                              .rank = 0,
                              .first = address(),
                              .all_bytes = sizeof memory_,
                              .size = sizeof memory_,
                              .disp_unit = 8},
                             direct, region),
              Status::ok);
    ASSERT_EQ(window_->lock(LockType::exclusive, 0, {}, nullptr), Status::ok);
    Request first;
    Request second;
    issue_own(*region, first);
    issue_own(*region, second);
    ASSERT_TRUE(process_.take_active(job_));
    ASSERT_EQ(regions().withdraw(name_), Status::ok);
    EXPECT_TRUE(second.complete);
    EXPECT_EQ(second.status, Status::rma_range);
    EXPECT_TRUE(regions().is_used(name_));
    NoCalls caller;
    Process::run_active(job_, caller);
    Process::finish_active(job_);
    EXPECT_FALSE(regions().is_used(name_));
    EXPECT_TRUE(first.complete);
    EXPECT_EQ(first.status, Status::ok);
    HandleRegions::drop(*region);
}

} // namespace
} // namespace sidelight::rma
