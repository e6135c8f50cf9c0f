// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <new>

#include "network/traffic.hpp"

namespace {
bool refuses = false; ///< memory, to who can do without
}

void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept
{
    if (refuses) {
        return nullptr;
    }
    try {
        return ::operator new(bytes);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

/// Messages that no memory is left for.
namespace sidelight::network_tests {
namespace {

class OutOfMemory : public testing::TestWithParam<const char*> {};

struct Listener final : fabric::Receiver {
    void receive(int, std::span<const std::byte>) noexcept override { ++messages; }
    std::byte* place(int, std::span<const std::byte>, std::size_t) noexcept override
    {
        return nullptr;
    }
    void placed(int, std::span<const std::byte>, std::size_t) noexcept override {}
    void lost(int) noexcept override { ++losses; }
    int messages = 0;
    int losses = 0;
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

INSTANTIATE_TEST_SUITE_P(Over, OutOfMemory, testing::Values("tcp", "shm,self"), transports_name);

} // namespace
} // namespace sidelight::network_tests
