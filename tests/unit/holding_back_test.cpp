// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include <gtest/gtest.h>

#include "lone_process.hpp"

/// Closed epochs that wait for a lock, and what the program opens behind them.
namespace sidelight::rma {
namespace {

class HoldingBack : public LoneProcess {
protected:
    HoldingBack() : window_(make_window(7)) {}

    /// One that nobody has granted.
    void open_lock_all() { ASSERT_EQ(window_.lock_all({}, nullptr), Status::ok); }

    void post_to_another()
    {
        constexpr std::array origins{1};
        ASSERT_EQ(window_.post(origins, nullptr), Status::ok);
    }

    Window& window_;
    Request closed_;
};

TEST_F(HoldingBack, ANonblockingUnlockAllHoldsBackTheNextEpoch)
{
    open_lock_all();
    ASSERT_EQ(window_.unlock_all(&closed_), Status::ok);
    post_to_another();
    EXPECT_EQ(fabric_.sent(MessageKind::grant), 0);
    EXPECT_FALSE(closed_.complete);
}

TEST_F(HoldingBack, AnUnlockAllThatAThreadWaitsForHoldsBackNoOther)
{
    open_lock_all();
    ASSERT_EQ(window_.unlock_all(&closed_, true), Status::ok);
    post_to_another();
    EXPECT_EQ(fabric_.sent(MessageKind::grant), 1);
    EXPECT_FALSE(closed_.complete);
}

} // namespace
} // namespace sidelight::rma
