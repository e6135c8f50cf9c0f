// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/lock_server.hpp"

#include <gtest/gtest.h>

#include "lone_process.hpp"
#include "rma/engine/window_parts.hpp"

/// Members 1 and 2, on other nodes, ask for the lock of this one.
namespace sidelight::rma {
namespace {

class LockServerTest : public LoneProcess {
protected:
    LockServerTest() { window_ = &make_window(7); }

    void ask(int rank, LockType type)
    {
        hear_from(rank, 7, MessageKind::lock, LockBody{.type = static_cast<std::uint8_t>(type)});
    }
    [[nodiscard]] int grants() const { return fabric_.sent(MessageKind::lock_grant); }
    [[nodiscard]] LockQueue& queue() { return members_.control(0).lock; }

    Window* window_;
};

TEST_F(LockServerTest, GrantsToAllThatAreAdmitted)
{
    static_cast<void>(queue().arrive(LockType::exclusive));
    ask(1, LockType::shared);
    ask(2, LockType::shared);
    ask(1, LockType::exclusive);
    ask(2, LockType::shared);
    process_.progress();
    EXPECT_EQ(grants(), 0);
    queue().depart(LockType::exclusive);
    process_.progress();
    EXPECT_EQ(grants(), 2);
    const UnlockBody unlock{.type = static_cast<std::uint8_t>(LockType::shared)};
    hear_from(2, 7, MessageKind::unlock, unlock);
    EXPECT_EQ(grants(), 2);
    hear_from(1, 7, MessageKind::unlock, unlock);
    EXPECT_EQ(grants(), 3);
}

/// What a lost member has asked for is left when it is admitted.
TEST_F(LockServerTest, GrantsToTheOneBehindALostOne)
{
    static_cast<void>(queue().arrive(LockType::exclusive));
    ask(1, LockType::exclusive);
    ask(1, LockType::exclusive);
    ask(2, LockType::exclusive);
    process_.lost(1);
    process_.progress();
    queue().depart(LockType::exclusive);
    process_.progress();
    EXPECT_EQ(grants(), 1);
    EXPECT_EQ(fabric_.last_peer, 2);
}

/// Nobody behind one that is not admitted can be. Here somebody would be, were he looked at: the
/// sum of the places that were left has passed the first one's.
TEST_F(LockServerTest, LooksAtNobodyBehindTheFirst)
{
    static_cast<void>(queue().arrive(LockType::exclusive));
    ask(1, LockType::exclusive);
    ask(2, LockType::exclusive);
    queue().depart(LockType::exclusive);
    queue().depart(LockType::exclusive);
    process_.progress();
    EXPECT_EQ(grants(), 0);
}

} // namespace
} // namespace sidelight::rma
