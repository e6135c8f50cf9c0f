// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <thread>

#include <gtest/gtest.h>

#include "datatype/basic_layout.hpp"
#include "datatype/builder.hpp"
#include "host/allocated/allocated_memory.hpp"
#include "host/allocated/block_sizes.hpp"
#include "host/node/own_thread.hpp"
#include "lone_process.hpp"

namespace {

thread_local bool no_memory = false;
thread_local int allocations_left = -1; ///< until there is none; negative: any number

bool may_allocate()
{
    if (allocations_left > 0) {
        --allocations_left;
    }
    return !no_memory && allocations_left != 0;
}

} // namespace

// All of the program's, so that it can be told that there is none.
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept
{
    return may_allocate() ? std::malloc(bytes != 0 ? bytes : 1) : nullptr;
}
void* operator new(std::size_t bytes)
{
    void* memory = ::operator new(bytes, std::nothrow);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }

/// Nobody's program is ended, and nobody waits for ever, because a message could not be kept or
/// sent: the two members are lost to one another.
namespace sidelight::rma {
namespace {

class OutOfMemory : public LoneProcess {
protected:
    OutOfMemory() : window_(&make_window(7)) {}
    ~OutOfMemory() override { no_memory = false; }

    [[nodiscard]] static Framed<LockBody> lock_from(std::uint32_t rank, std::uint64_t window = 7)
    {
        return {.header = {.kind = MessageKind::lock, .origin = rank, .window = window},
                .body = {.type = static_cast<std::uint8_t>(LockType::exclusive)}};
    }
    void greet_from(std::uint32_t rank)
    {
        hear(static_cast<int>(rank),
             Framed<NoBody>{.header = {.kind = MessageKind::probe, .origin = rank, .window = 7},
                            .body = {}});
    }
    /// Whether the last message tells that peer that this member is lost to it.
    [[nodiscard]] bool has_told_loss_to(int peer) const
    {
        return fabric_.last_peer == peer && fabric_.last_kind() == MessageKind::lost &&
               fabric_.last_body<LostBody>().rank == 0;
    }

    Window* window_;
};

TEST(OwnThread, IsNotStartedWithoutMemory)
{
    no_memory = true;
    const std::thread thread = host::node::start_own_thread(
        "tested", [](void* /*context*/) noexcept {}, nullptr);
    no_memory = false;
    EXPECT_FALSE(thread.joinable());
}

std::size_t mapped_bytes()
{
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * page_size();
}

/// Wherever it runs out.
TEST(AllocatedMemory, KeepsNothingOfABlockThatCannotBeNoted)
{
    host::allocated::AllocatedMemory& memory = host::allocated::AllocatedMemory::of_process();
    constexpr std::size_t bytes = 2 * host::allocated::cached_block;
    void* block = nullptr;
    for (int enough = 1; block == nullptr; ++enough) {
        ASSERT_LT(enough, 20);
        const std::size_t before = mapped_bytes();
        allocations_left = enough;
        block = memory.allocate(bytes, 64, false);
        allocations_left = -1;
        EXPECT_EQ(block == nullptr, mapped_bytes() < before + bytes) << enough;
    }
    EXPECT_EQ(memory.free(block), host::allocated::AllocatedMemory::Freed::yes);
}

TEST_F(OutOfMemory, MemberThatCannotBeMetIsTold)
{
    no_memory = true;
    hear(1, lock_from(1));
    no_memory = false;
    EXPECT_TRUE(has_told_loss_to(1));
}

TEST_F(OutOfMemory, MemberThatCannotBeAnsweredIsToldAndLostForGood)
{
    ASSERT_NE(window_->look_up(1), nullptr);
    no_memory = true;
    hear(1, lock_from(1));
    no_memory = false;
    EXPECT_TRUE(window_->target(1).lost);
    EXPECT_TRUE(has_told_loss_to(1));
    process_.progress();
    fabric_.last_peer = -1;
    hear(1, lock_from(1)); // it did not know yet
    process_.progress();
    EXPECT_EQ(fabric_.last_peer, -1);
    // It holds no place: others get in.
    hear(2, lock_from(2));
    process_.progress();
    EXPECT_EQ(fabric_.last_peer, 2);
    EXPECT_EQ(fabric_.last_kind(), MessageKind::lock_grant);
}

/// Two that know no more than that the other has no memory do not tell each other for ever.
TEST_F(OutOfMemory, WhoIsTurnedAwayIsToldOnce)
{
    for (int message = 0; message < 2; ++message) {
        fabric_.last_peer = -1;
        no_memory = true;
        hear_from(1, 7, MessageKind::lost, LostBody{.rank = 1});
        no_memory = false;
        EXPECT_EQ(fabric_.last_peer, message == 0 ? 1 : -1);
    }
}

/// Nobody passes a barrier that one of them has been turned away from.
TEST_F(OutOfMemory, WhoTurnsALeaderAwayWaitsForNoBarrier)
{
    Request fenced;
    ASSERT_EQ(window_->fence({}, &fenced), Status::ok);
    no_memory = true;
    hear_from(2, 7, MessageKind::barrier, BarrierBody{.round = 0, .number = 1});
    no_memory = false;
    EXPECT_TRUE(has_told_loss_to(2));
    process_.progress();
    EXPECT_TRUE(fenced.complete);
    EXPECT_EQ(fenced.status, Status::lost);
    // It stays lost when there is memory for it, and the other one has been told.
    EXPECT_EQ(fabric_.last_peer, 1);
    EXPECT_EQ(fabric_.last_body<LostBody>().rank, 2);
    fabric_.last_peer = -1;
    hear(2, lock_from(2));
    process_.progress();
    EXPECT_EQ(fabric_.last_peer, -1);
    EXPECT_EQ(window_->lock(LockType::shared, 2, {}, nullptr), Status::lost);
}

TEST_F(OutOfMemory, LossOfAMemberThatCannotBeMetIsALoss)
{
    Request fenced;
    greet_from(1);
    ASSERT_EQ(window_->fence({}, &fenced), Status::ok);
    no_memory = true;
    hear_from(1, 7, MessageKind::lost, LostBody{.rank = 2});
    no_memory = false;
    process_.progress();
    EXPECT_TRUE(fenced.complete);
    EXPECT_EQ(fenced.status, Status::lost);
    Request closed;
    ASSERT_EQ(window_->close(&closed), Status::ok);
    process_.progress();
    EXPECT_TRUE(window_->closed());
    process_.destroy_window(*window_);
    EXPECT_TRUE(has_told_loss_to(1));
}

/// What it holds already is given back, since it will not do so.
TEST_F(OutOfMemory, OriginOfALockThatCannotBeKeptHoldsNoOther)
{
    constexpr int kept = 64; // those of one slab of the pool
    hear(1, lock_from(1));
    process_.progress();
    for (int place = 0; place < kept; ++place) {
        hear(2, lock_from(2));
    }
    process_.progress();
    ASSERT_EQ(fabric_.last_peer, 1);
    ASSERT_EQ(fabric_.last_kind(), MessageKind::lock_grant);
    no_memory = true;
    hear(1, lock_from(1));
    no_memory = false;
    EXPECT_TRUE(has_told_loss_to(1));
    process_.progress();
    EXPECT_EQ(fabric_.last_peer, 2);
    EXPECT_EQ(fabric_.last_kind(), MessageKind::lock_grant);
}

TEST_F(OutOfMemory, OriginOfALockThatCannotBeKeptIsToldAndLost)
{
    greet_from(1);
    no_memory = true;
    hear(1, lock_from(1));
    no_memory = false;
    EXPECT_TRUE(window_->target(1).lost);
    EXPECT_TRUE(has_told_loss_to(1));
    // It holds no place: others get in.
    hear(2, lock_from(2));
    process_.progress();
    EXPECT_EQ(fabric_.last_peer, 2);
    EXPECT_EQ(fabric_.last_kind(), MessageKind::lock_grant);
}

TEST_F(OutOfMemory, ReceiverOfAMessageThatCannotLeaveIsLost)
{
    fabric_.answer = Status::no_memory;
    Request unlocked;
    ASSERT_EQ(window_->lock(LockType::exclusive, 1, {}, nullptr), Status::ok);
    ASSERT_EQ(window_->unlock(1, &unlocked), Status::ok);
    process_.progress();
    EXPECT_TRUE(unlocked.complete);
    EXPECT_EQ(unlocked.status, Status::lost);
}

/// Wherever it runs out: nothing of the window stays that a message could find.
TEST_F(OutOfMemory, WindowThatCannotBeMadeIsNotThere)
{
    bool made = false;
    for (int enough = 1; !made; ++enough) {
        const std::uint64_t id = 100 + static_cast<std::uint64_t>(enough);
        allocations_left = enough;
        try {
            make_window(id);
            made = true;
        } catch (const std::bad_alloc&) {
        }
        allocations_left = -1;
        fabric_.last_peer = -1;
        hear(1, lock_from(1, id));
        process_.progress();
        EXPECT_EQ(fabric_.last_peer, made ? 1 : -1) << enough;
    }
}

/// A message of 40 segments of a word with a hole behind it, which have to be copied.
class OutOfMemoryForActive : public OutOfMemory {
protected:
    OutOfMemoryForActive()
    {
        datatype::LayoutBuilder builder;
        builder.append_block(0, 8, datatype::Basic::u64);
        spread_ = builder.finish(0, 16);
        const datatype::Layout& word = datatype::basic_layout(datatype::Basic::u64);
        call_ = {.segments = 40, .input = {.layout = &word, .count = 1}};
        operation_.kind = OperationKind::active_message;
        operation_.target = 1;
        operation_.layout = &word;
        operation_.count = 1;
        operation_.origin = {values_.data(), spread_.get(), 1};
        operation_.active = &call_;
        operation_.request_scope = FlushScope::remote;
    }

    std::array<std::uint64_t, 80> values_{};
    datatype::LayoutPointer spread_;
    ActiveCall call_;
    Operation operation_;
};

/// What operations of all kinds need is there.
TEST_F(OutOfMemoryForActive, MessageThatCannotBeLaunchedEnds)
{
    Operation put = operation_;
    put.kind = OperationKind::put;
    put.active = nullptr;
    ASSERT_EQ(window_->lock(LockType::shared, 1, {.no_check = true}, nullptr), Status::ok);
    ASSERT_EQ(window_->issue(put, nullptr), Status::ok);
    for (int enough = 0; fabric_.sent(MessageKind::active_ask) == 0; ++enough) {
        ASSERT_LT(enough, 10);
        Request run;
        allocations_left = enough;
        const Status refused = window_->issue(operation_, &run);
        allocations_left = -1;
        const Status status = refused == Status::ok && run.complete ? run.status : refused;
        EXPECT_EQ(status,
                  fabric_.sent(MessageKind::active_ask) == 0 ? Status::no_memory : Status::ok);
    }
}

/// What it has at its target is given back: a message that has begun there would keep its turn.
TEST_F(OutOfMemoryForActive, MessageThatCannotGoOnIsWithdrawn)
{
    Request run;
    ASSERT_EQ(window_->lock(LockType::shared, 1, {.no_check = true}, nullptr), Status::ok);
    ASSERT_EQ(window_->issue(operation_, &run), Status::ok);
    hear_from(1, 7, MessageKind::active_room, ActiveRoomBody{.internal = 8, .attached = 4096});
    ASSERT_EQ(fabric_.sent(MessageKind::active), 1);
    ASSERT_EQ(fabric_.last_kind(), MessageKind::active_reserve);
    const auto wish = fabric_.last_body<ActiveReservationBody>();
    no_memory = true;
    hear_from(1, 7, MessageKind::active_reserved,
              ActiveReservationBody{.operation = wish.operation, .least = wish.most});
    no_memory = false;
    EXPECT_EQ(fabric_.sent(MessageKind::active), 2);
    EXPECT_EQ(fabric_.last_kind(), MessageKind::active);
    for (const std::uint64_t segment : {0U, 1U}) {
        EXPECT_FALSE(run.complete);
        const Status status = segment == 0 ? Status::ok : Status::other;
        hear_from(1, 7, MessageKind::active_done,
                  ActiveDoneBody{.operation = wish.operation,
                                 .segment = segment,
                                 .status = static_cast<std::uint8_t>(status)});
    }
    EXPECT_TRUE(run.complete);
    EXPECT_EQ(run.status, Status::no_memory);
}

/// Its room at the target is free again: all of it is used by others, many times.
TEST_F(OutOfMemoryForActive, MessageThatCannotBeginKeepsNoRoom)
{
    ASSERT_EQ(window_->lock(LockType::shared, 1, {.no_check = true}, nullptr), Status::ok);
    Request refused;
    ASSERT_EQ(window_->issue(operation_, &refused), Status::ok);
    no_memory = true;
    hear_from(1, 7, MessageKind::active_room, ActiveRoomBody{.internal = 8192, .attached = 0});
    no_memory = false;
    EXPECT_TRUE(refused.complete);
    EXPECT_EQ(refused.status, Status::no_memory);
    constexpr int others = 200;
    for (int number = 1; number <= others; ++number) {
        Request run;
        ASSERT_EQ(window_->issue(operation_, &run), Status::ok);
        ASSERT_EQ(fabric_.sent(MessageKind::active), number);
        hear_from(1, 7, MessageKind::active_done,
                  ActiveDoneBody{.operation = fabric_.last_body<ActiveBody>().operation});
        ASSERT_TRUE(run.complete);
        ASSERT_EQ(run.status, Status::ok);
    }
}

/// Wherever it runs out: who has got no key asks again.
TEST_F(OutOfMemory, RegionIsExposedWhenThereIsMemoryAgain)
{
    fabric_.opens = true;
    std::array<std::byte, 64> memory{};
    const auto first = reinterpret_cast<std::uintptr_t>(memory.data());
    for (int enough = 0; enough < 12; ++enough) {
        const std::uint64_t id = 100 + static_cast<std::uint64_t>(enough);
        Window& window = make_window(id, Flavor::dynamic);
        ASSERT_NE(window.look_up(1), nullptr);
        ASSERT_EQ(window.attach(memory.data(), memory.size()), Status::ok);
        const Framed<RegionRequestBody> asked{
            .header = {.kind = MessageKind::region_request, .origin = 1, .window = id},
            .body = {.first = first, .last = first + 8}};
        std::array<std::byte, sizeof asked + 1> with_key{};
        std::memcpy(with_key.data(), &asked, sizeof asked);
        hear_from(1, id, MessageKind::probe);
        allocations_left = enough;
        process_.receive(1, with_key);
        allocations_left = -1;
        process_.receive(1, with_key);
        EXPECT_EQ(fabric_.last_kind(), MessageKind::region_key);
        EXPECT_EQ(fabric_.last_body<RegionKeyBody>().first, first);
        Request detached;
        EXPECT_EQ(window.detach(memory.data(), &detached), Status::ok);
        EXPECT_TRUE(detached.complete);
    }
}

/// It has a key that opens nothing any more.
TEST_F(OutOfMemory, WhoCannotBeToldOfADetachIsLost)
{
    fabric_.opens = fabric_.exposes = true; // puts are refused
    std::array<std::byte, 64> memory{};
    Window& window = make_window(100, Flavor::dynamic);
    ASSERT_NE(window.look_up(1), nullptr);
    ASSERT_EQ(window.attach(memory.data(), memory.size()), Status::ok);
    const auto first = reinterpret_cast<std::uintptr_t>(memory.data());
    const Framed<RegionRequestBody> asked{
        .header = {.kind = MessageKind::region_request, .origin = 1, .window = 100},
        .body = {.first = first, .last = first + 8}};
    std::array<std::byte, sizeof asked + 1> with_key{};
    std::memcpy(with_key.data(), &asked, sizeof asked);
    process_.receive(1, with_key);
    ASSERT_EQ(fabric_.last_kind(), MessageKind::region_key);
    Request detached;
    EXPECT_EQ(window.detach(memory.data(), &detached), Status::ok);
    EXPECT_TRUE(detached.complete);
    EXPECT_TRUE(has_told_loss_to(1));
    EXPECT_TRUE(window.target(1).lost);
}

/// The message to the next leader leaves when that can be met.
TEST_F(OutOfMemory, BarrierGoesOnWhenThereIsMemoryAgain)
{
    Request fenced;
    allocations_left = 4; // for the epoch, and no more
    const Status status = window_->fence({}, &fenced);
    process_.progress();
    allocations_left = -1;
    ASSERT_EQ(status, Status::ok);
    ASSERT_EQ(fabric_.sent(MessageKind::barrier), 0);
    process_.progress();
    EXPECT_EQ(fabric_.sent(MessageKind::barrier), 1);
    hear_from(2, 7, MessageKind::barrier, BarrierBody{.round = 0, .number = 1});
    hear_from(1, 7, MessageKind::barrier, BarrierBody{.round = 1, .number = 1});
    process_.progress();
    EXPECT_TRUE(fenced.complete);
    EXPECT_EQ(fenced.status, Status::ok);
    EXPECT_EQ(fabric_.sent(MessageKind::barrier), 2);
}

TEST_F(OutOfMemory, BrokenWindowIsDestroyed)
{
    greet_from(1);
    greet_from(2);
    process_.lost(1);
    Request closed;
    ASSERT_EQ(window_->close(&closed), Status::ok);
    process_.progress();
    ASSERT_TRUE(window_->closed());
    no_memory = true;
    process_.destroy_window(*window_);
    EXPECT_TRUE(has_told_loss_to(2));
}

TEST_F(OutOfMemory, NobodyWaitsForTheAnswerToAFarewellThatCannotLeave)
{
    hear(1, lock_from(1));
    fabric_.answer = Status::no_memory;
    process_.say_farewell();
    EXPECT_TRUE(process_.has_parted());
}

} // namespace
} // namespace sidelight::rma
