// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "network/traffic.hpp"

/// The memory that a zero-copy message was to be written to, when its sender has died: from the
/// loss on it is the program's.
namespace sidelight::network_tests {
namespace {

class LostSender : public testing::TestWithParam<const char*> {};

constexpr std::size_t bytes = std::size_t{8} << 20;
constexpr std::byte sent{0x5A};
constexpr std::byte mine{0xA5};

/// Takes one zero-copy message.
class Taker final : public fabric::Receiver {
public:
    void receive(int, std::span<const std::byte>) noexcept override {}
    std::byte* place(int, std::span<const std::byte>, std::size_t) noexcept override
    {
        asked = true;
        return memory.data();
    }
    void placed(int, std::span<const std::byte>, std::size_t) noexcept override {}
    void lost(int) noexcept override
    {
        ++losses;
        std::fill(memory.begin(), memory.end(), mine);
    }

    /// Whether some of it is there.
    [[nodiscard]] bool has_begun() const noexcept { return asked && memory.front() == sent; }

    std::vector<std::byte> memory = std::vector<std::byte>(bytes);
    bool asked = false;
    int losses = 0;
};

/// Sends and dies on the way, at the latest when it has waited for long.
void send_and_die(Member& member, Taker& taker)
{
    const std::vector<std::byte> payload(bytes, sent);
    fabric::Completion finished{.finished = [](fabric::Completion&, Status) noexcept {}};
    const std::array<std::byte, 8> header{};
    EXPECT_EQ(member.fabric().send_zero_copy(member.peer(0), header, payload, finished),
              Status::ok);
    const auto end = Clock::now() + std::chrono::seconds(20);
    while (member.board().words[0] == 0 && Clock::now() < end) {
        member.fabric().poll(taker);
    }
    for (int i = 0; i < 1000; ++i) { // what there is room for is on its way
        member.fabric().poll(taker);
    }
    kill(getpid(), SIGKILL);
}

TEST_P(LostSender, WritesNothingAfterItsLoss)
{
    const std::vector<int> ends = run_team_to_any_end(2, GetParam(), [](Member& member) {
        member.meet_all();
        Taker taker;
        // Both watch each other.
        EXPECT_EQ(member.fabric().send(member.peer(1 - member.rank()), {}, {}), Status::ok);
        member.fabric().push();
        EXPECT_TRUE(member.barrier(taker));
        if (member.rank() == 1) {
            send_and_die(member, taker);
        }
        EXPECT_TRUE(
            member.poll_until(taker, [&] { return taker.has_begun() || taker.losses != 0; }));
        member.board().words[0] = 1;
        usleep(1'500'000); // it is dead, and UCX's next look finds that out
        EXPECT_TRUE(member.poll_until(taker, [&] { return taker.losses != 0; }));
        for (int i = 0; i < 1000; ++i) {
            member.fabric().poll(taker);
        }
        EXPECT_EQ(std::count(taker.memory.begin(), taker.memory.end(), mine),
                  static_cast<std::ptrdiff_t>(bytes));
        EXPECT_EQ(taker.losses, 1);
    });
    ASSERT_EQ(ends.size(), 2U);
    EXPECT_EQ(ends[0], 0);
}

INSTANTIATE_TEST_SUITE_P(Over, LostSender, testing::ValuesIn(all_ways), transports_name);

} // namespace
} // namespace sidelight::network_tests
