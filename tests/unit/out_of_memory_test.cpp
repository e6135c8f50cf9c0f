// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "lone_process.hpp"

namespace {

thread_local bool no_memory = false;

} // namespace

// All of the program's, so that it can be told that there is none.
void* operator new(std::size_t bytes)
{
    void* memory = no_memory ? nullptr : std::malloc(bytes != 0 ? bytes : 1);
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

    [[nodiscard]] static Framed<LockBody> lock_from(std::uint32_t rank)
    {
        return {.header = {.kind = MessageKind::lock, .origin = rank, .window = 7},
                .body = {.type = static_cast<std::uint8_t>(LockType::exclusive)}};
    }
    /// Whether the last message tells that peer that this member is lost to it.
    [[nodiscard]] bool has_told_loss_to(int peer) const
    {
        return fabric_.last_peer == peer && fabric_.last_kind() == MessageKind::lost &&
               fabric_.last_body<LostBody>().rank == 0;
    }

    Window* window_;
};

TEST_F(OutOfMemory, MemberThatCannotBeMetIsTold)
{
    no_memory = true;
    hear(1, lock_from(1));
    no_memory = false;
    EXPECT_TRUE(has_told_loss_to(1));
}

TEST_F(OutOfMemory, OriginOfALockThatCannotBeKeptIsToldAndLost)
{
    ASSERT_NE(window_->look_up(1), nullptr);
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

TEST_F(OutOfMemory, NobodyWaitsForTheAnswerToAFarewellThatCannotLeave)
{
    hear(1, lock_from(1));
    fabric_.answer = Status::no_memory;
    process_.say_farewell();
    EXPECT_TRUE(process_.has_parted());
}

} // namespace
} // namespace sidelight::rma
