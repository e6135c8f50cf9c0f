// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/network_gate.hpp"

#include <gtest/gtest.h>

#include <array>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "unit/open_files.hpp"

namespace sidelight::host::node {
namespace {

class NetworkGates : public testing::Test {
protected:
    NetworkGates()
    {
        EXPECT_EQ(pipe2(ends_.data(), O_CLOEXEC), 0);
        gate_.watch(ends_[0]);
    }
    ~NetworkGates() override
    {
        ::close(ends_[0]);
        ::close(ends_[1]);
    }
    void arrive() const { EXPECT_EQ(write(ends_[1], "x", 1), 1); }
    [[nodiscard]] bool wakes() const
    {
        pollfd at{.fd = gate_.descriptor(), .events = POLLIN, .revents = 0};
        return poll(&at, 1, 0) == 1;
    }

    NetworkGate gate_;

private:
    std::array<int, 2> ends_{-1, -1};
};

TEST_F(NetworkGates, AreOpenAtFirst)
{
    EXPECT_FALSE(wakes());
    arrive();
    EXPECT_TRUE(wakes());
}

TEST_F(NetworkGates, KeepWhatComesUntilTheyAreOpened)
{
    gate_.close();
    arrive();
    EXPECT_FALSE(wakes());
    gate_.open();
    EXPECT_TRUE(wakes());
    gate_.close();
    EXPECT_FALSE(wakes());
}

/// The program has closed all descriptors that it does not know, and opened its own.
TEST_F(NetworkGates, LeaveAFileInTheirPlaceAlone)
{
    const unit::PipeInItsPlace pipe(gate_.descriptor());
    gate_.close();
    EXPECT_FALSE(wakes());
    arrive();
    EXPECT_TRUE(wakes()); // by the descriptor itself
    gate_.open();
    gate_.forget();
    EXPECT_TRUE(pipe.is_untouched());
}

} // namespace
} // namespace sidelight::host::node
