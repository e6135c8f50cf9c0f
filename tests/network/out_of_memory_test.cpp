// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <new>
#include <vector>

#include "network/traffic.hpp"

namespace {
bool refuses = false;        ///< memory, to who can do without
bool refuses_others = false; ///< and who has to be stopped
} // namespace

// Not inlined: the compiler would take what they do for mistakes.
[[gnu::noinline]] void* operator new(std::size_t bytes)
{
    void* memory = refuses_others ? nullptr : std::malloc(bytes != 0 ? bytes : 1);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept
{
    return refuses ? nullptr : std::malloc(bytes != 0 ? bytes : 1);
}

[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*bytes*/) noexcept
{
    std::free(memory);
}

/// Messages that no memory is left for.
namespace sidelight::network_tests {
namespace {

constexpr std::size_t payload_bytes = std::size_t{8} << 20; // fetched by the receiver

class OutOfMemory : public testing::TestWithParam<const char*> {};

struct Listener final : fabric::Receiver {
    void receive(int, std::span<const std::byte>) noexcept override { ++messages; }
    std::byte* place(int, std::span<const std::byte>, std::size_t) noexcept override
    {
        ++places;
        return memory.data();
    }
    void placed(int, std::span<const std::byte>, std::size_t) noexcept override { ++placements; }
    void lost(int) noexcept override { ++losses; }

    std::vector<std::byte> memory = std::vector<std::byte>(payload_bytes);
    int messages = 0;
    int places = 0;
    int placements = 0;
    int losses = 0;
};

struct Sent : fabric::Completion {
    Sent() noexcept
    {
        finished = [](Completion& self, Status) noexcept { static_cast<Sent&>(self).over = true; };
    }
    bool over = false;
};

/// The peer does not poll, so batches pile up until there is none left.
TEST_P(OutOfMemory, EndsTheConnectionOnBothSides)
{
    EXPECT_TRUE(run_team(2, GetParam(), [](Member& member) {
        member.meet_all();
        Listener listener;
        const int peer = member.peer(1 - member.rank());
        const std::array<std::byte, fabric::max_message> bytes{};
        EXPECT_EQ(member.fabric().send(peer, bytes, {}), Status::ok);
        member.fabric().push();
        EXPECT_TRUE(member.poll_until(listener, [&] { return listener.messages == 1; }));
        EXPECT_TRUE(member.barrier(listener));
        std::atomic<int>& refused = member.board().words[0];
        if (member.rank() == 0) {
            refuses = true;
            Status status = Status::ok;
            for (int i = 0; i < 100000 && status == Status::ok; ++i) {
                status = member.fabric().send(peer, bytes, {});
            }
            refuses = false;
            EXPECT_EQ(status, Status::no_memory);
            EXPECT_EQ(member.fabric().send(peer, bytes, {}), Status::ok) << "it vanishes";
            refused = 1;
        } else {
            while (refused == 0) {
            }
        }
        EXPECT_TRUE(member.poll_until(listener, [&] { return listener.losses == 1; }));
        EXPECT_TRUE(member.barrier(listener));
    }));
}

/// A zero-copy message is not expected where nobody could be told that it has come.
TEST_P(OutOfMemory, OfAReceiverEndsTheConnectionOnBothSides)
{
    EXPECT_TRUE(run_team(2, GetParam(), [](Member& member) {
        member.meet_all();
        Listener listener;
        const int peer = member.peer(1 - member.rank());
        EXPECT_EQ(member.fabric().send(peer, std::array<std::byte, 8>{}, {}), Status::ok);
        member.fabric().push();
        EXPECT_TRUE(member.poll_until(listener, [&] { return listener.messages == 1; }));
        EXPECT_TRUE(member.barrier(listener));
        Sent sent;
        const std::vector<std::byte> payload(payload_bytes);
        if (member.rank() == 0) {
            EXPECT_EQ(
                member.fabric().send_zero_copy(peer, std::array<std::byte, 8>{}, payload, sent),
                Status::ok);
        } else {
            refuses_others = true;
        }
        const auto told = [&] { return listener.losses == 1; };
        const bool ended = member.poll_until(listener, told);
        refuses_others = false;
        EXPECT_TRUE(ended);
        EXPECT_TRUE(member.rank() == 1 || member.poll_until(listener, [&] { return sent.over; }));
        EXPECT_EQ(listener.places, 0);
        EXPECT_EQ(listener.placements, 0);
        EXPECT_TRUE(member.barrier(listener));
    }));
}

/// A short message goes by the box, and is there before a long one that was sent first. UCX (1.13)
/// tells the sender nothing on shared memory, unless that waits for something of its own.
TEST(OutOfMemoryOverBoxes, ForWhatComesEarlyLosesTheSender)
{
    EXPECT_TRUE(run_team(2, boxes, [](Member& member) {
        member.meet_all();
        Listener listener;
        const int peer = member.peer(1 - member.rank());
        const std::array<std::byte, 4000> bytes{};
        const auto send = [&](std::size_t count) {
            EXPECT_EQ(member.fabric().send(peer, std::span(bytes).first(count), {}), Status::ok);
            member.fabric().push();
        };
        send(8);
        EXPECT_TRUE(member.poll_until(listener, [&] { return listener.messages == 1; }));
        EXPECT_TRUE(member.barrier(listener));
        std::atomic<int>& sent = member.board().words[0];
        if (member.rank() == 0) {
            send(bytes.size());
            send(8);
            sent = 1;
        }
        while (sent == 0) {
        }
        refuses_others = member.rank() == 1;
        const bool ended =
            member.rank() == 0 || member.poll_until(listener, [&] { return listener.losses == 1; });
        refuses_others = false;
        EXPECT_TRUE(ended);
        EXPECT_TRUE(member.barrier(listener));
    }));
}

TEST_P(OutOfMemory, ToKnowASenderDropsWhatItSends)
{
    EXPECT_TRUE(run_team(2, GetParam(), [](Member& member) {
        Listener listener;
        std::atomic<int>& over = member.board().words[0];
        if (member.rank() == 0) {
            refuses_others = true;
            const bool dropped = member.poll_until(listener, [&] { return over != 0; });
            refuses_others = false;
            EXPECT_TRUE(dropped);
            EXPECT_EQ(listener.places, 0);
        } else {
            Sent sent;
            const std::vector<std::byte> payload(payload_bytes);
            EXPECT_EQ(member.fabric().send_zero_copy(member.meet(0), std::array<std::byte, 8>{},
                                                     payload, sent),
                      Status::ok);
            EXPECT_TRUE(member.poll_until(listener, [&] { return sent.over; }));
            over = 1;
        }
        EXPECT_TRUE(member.barrier(listener));
    }));
}

INSTANTIATE_TEST_SUITE_P(Over, OutOfMemory, testing::Values("tcp", "posix,self", "shm,self"),
                         transports_name);

} // namespace
} // namespace sidelight::network_tests
