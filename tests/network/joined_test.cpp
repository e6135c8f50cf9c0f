// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/joined/joined_fabric.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <new>

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cpu.hpp"
#include "base/shared_memory.hpp"
#include "unit/processes.hpp"

/// Doorbells and network together. The test's own process never loads UCX.
namespace sidelight::network_tests {
namespace {

using Clock = std::chrono::steady_clock;
using fabric::JoinedFabric;

constexpr std::chrono::nanoseconds nap = std::chrono::milliseconds(1); ///< of who lingers before
constexpr std::chrono::nanoseconds for_ever = std::chrono::seconds(120);

/// Where two processes find each other.
struct Meeting {
    struct Entry {
        std::atomic<int> lives{0}; ///< networks that it has opened
        fabric::PeerAddress address;
        std::size_t bytes = 0;
        std::array<std::byte, 32768> network;
    };
    std::array<Entry, 2> entries;
    std::atomic<int> over{0};
};

class Counter final : public fabric::Receiver {
public:
    void receive(int, std::span<const std::byte> message) noexcept override
    {
        std::uint64_t number = 0;
        std::memcpy(&number, message.data(), sizeof number);
        in_order = in_order && number == received;
        ++received;
    }
    std::byte* place(int, std::span<const std::byte>, std::size_t) noexcept override
    {
        return nullptr;
    }
    void placed(int, std::span<const std::byte>, std::size_t) noexcept override {}
    void lost(int peer) noexcept override
    {
        heard_of_end = true;
        in_order = in_order && peer <= departed;
    }

    int departed = -1; ///< the end of that peer, and of those before it, is no loss
    std::uint64_t received = 0;
    bool in_order = true;
    bool heard_of_end = false;
};

/// Everything that one of the two has.
struct End {
    JoinedFabric fabric{{.transports = "posix,self"}};
    Counter counter;
    int lives = 0;
    int peer = -1;
    std::uint64_t sent = 0;
    Clock::duration longest_sleep{};

    bool meet(Meeting& meeting, std::size_t rank)
    {
        if (!fabric.open_network()) {
            return false;
        }
        Meeting::Entry& own = meeting.entries.at(rank);
        const auto address = fabric.network()->address();
        std::copy(address.begin(), address.end(), own.network.begin());
        own.bytes = address.size();
        own.address = fabric.address();
        ++own.lives;
        ++lives;
        peer = peer_at(meeting.entries.at(1 - rank));
        return true;
    }

    /// This one has the network that it had.
    void meet_again(Meeting& meeting, std::size_t rank)
    {
        ++meeting.entries.at(rank).lives;
        ++lives;
        peer = peer_at(meeting.entries.at(1 - rank));
    }

    int peer_at(Meeting::Entry& other)
    {
        while (other.lives < lives) {
            usleep(100);
        }
        return fabric.meet(other.address, std::span(other.network).first(other.bytes));
    }

    void send(std::size_t bytes)
    {
        std::array<std::byte, 1000> payload{};
        const std::uint64_t number = sent++;
        static_cast<void>(fabric.send(peer, std::as_bytes(std::span(&number, 1)),
                                      std::span(payload).first(bytes)));
        fabric.push();
    }

    void poll_for(std::uint64_t count)
    {
        while (counter.received < count) {
            fabric.poll(counter);
            usleep(0);
        }
    }

    /// Answers whether so many have come within some seconds.
    bool poll_briefly_for(std::uint64_t count)
    {
        const Clock::time_point end = Clock::now() + std::chrono::seconds(20);
        while (counter.received < count && Clock::now() < end) {
            fabric.poll(counter);
            usleep(0);
        }
        return counter.received >= count;
    }

    /// Sleeps at the bell alone, as a thread does while another one listens to the network.
    void sleep_for(std::uint64_t count)
    {
        while (counter.received < count) {
            const Doorbell::Visit visit = fabric.bell().enter();
            const Clock::time_point begin = Clock::now();
            if (!look()) {
                fabric.bell().sleep(visit, fabric.bell().lingering() ? nap : for_ever);
            }
            longest_sleep = std::max(longest_sleep, Clock::now() - begin);
            fabric.bell().leave(visit);
            fabric.poll(counter);
        }
    }

    /// Before a sleep.
    bool look()
    {
        const auto end = Clock::now() + Doorbell::linger_time;
        while (fabric.bell().lingering() && Clock::now() < end) {
            if (fabric.poll(counter)) {
                return true;
            }
            relax_cpu();
        }
        return fabric.poll(counter);
    }
};

/// Two processes that meet, each with its rank. `body` answers whether all was well.
class Both {
public:
    template <class Body>
    explicit Both(Body body)
    {
        if (!memory_) {
            ADD_FAILURE() << "no memory to meet in";
            return;
        }
        Meeting& meeting = *new (memory_.data()) Meeting;
        for (std::size_t rank = 0; rank < processes_.size(); ++rank) {
            processes_.at(rank) = unit::start_process([&] { return body(meeting, rank); });
        }
    }
    /// Waits until that one has ended.
    [[nodiscard]] bool went_well(std::size_t rank) const
    {
        return unit::went_well(processes_.at(rank));
    }

private:
    File file_ = create_memory_file();
    Mapping memory_ = Mapping::shared(file_, sizeof(Meeting));
    std::array<pid_t, 2> processes_{};
};

/// Each waits for the other's message before it sends the next, first by polling, until UCX has
/// connected them, then asleep. One message in some is too long for a box.
bool exchange(Meeting& meeting, std::size_t rank, bool lingering)
{
    constexpr std::uint64_t awake = 50;
    constexpr std::uint64_t rounds = 3000;
    End end;
    end.fabric.bell().let_linger(lingering);
    if (!end.meet(meeting, rank)) {
        return false;
    }
    for (std::uint64_t round = 0; round < rounds; ++round) {
        const std::size_t bytes = round % 7 == 3 ? 1000 : 8;
        if (rank == 0) {
            end.send(bytes);
        }
        round < awake ? end.poll_for(round + 1) : end.sleep_for(round + 1);
        if (rank == 1) {
            end.send(bytes);
        }
    }
    ++meeting.over;
    while (meeting.over < 2) {
        end.fabric.poll(end.counter);
    }
    end.fabric.close_network(end.counter, std::chrono::seconds(2));
    return end.counter.in_order && end.counter.received == rounds &&
           end.longest_sleep < std::chrono::seconds(60);
}

/// Rank 1 is told, in another way than by messages, that all has been sent, and must see it by so
/// many polls, whatever way each message took.
bool look_briefly(Meeting& meeting, std::size_t rank)
{
    constexpr std::uint64_t connecting = 50;
    constexpr std::uint64_t rounds = 200;
    End end;
    if (!end.meet(meeting, rank)) {
        return false;
    }
    for (std::uint64_t message = 0; message < connecting; ++message) {
        if (rank == 0) {
            end.send(1000);
        }
        end.poll_for(message + 1);
        if (rank == 1) {
            end.send(1000);
        }
    }
    bool all_seen = true;
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        const auto told = static_cast<int>(2 * round - 1);
        if (rank == 0) {
            end.send(8); // by a box, so that these are preferred
            end.send(1000);
            meeting.over = told;
        }
        while (meeting.over < (rank == 0 ? told + 1 : told)) {
            usleep(0);
        }
        if (rank == 1) {
            for (int poll = 0; poll < fabric::Fabric::polls_for_all; ++poll) {
                end.fabric.poll(end.counter);
            }
            all_seen = all_seen && end.counter.received == connecting + 2 * round;
            meeting.over = told + 1;
        }
    }
    end.fabric.close_network(end.counter, std::chrono::seconds(2));
    return all_seen && end.counter.in_order;
}

class Joined : public testing::TestWithParam<bool> {};

TEST_P(Joined, WhoSleepsAtItsBellIsRungForEachMessage)
{
    const bool lingering = GetParam();
    const Both both([lingering](Meeting& meeting, std::size_t rank) {
        return exchange(meeting, rank, lingering);
    });
    EXPECT_TRUE(both.went_well(0));
    EXPECT_TRUE(both.went_well(1));
}

TEST(JoinedFabric, FewPollsSeeAllThatHasCome)
{
    const Both both(look_briefly);
    EXPECT_TRUE(both.went_well(0));
    EXPECT_TRUE(both.went_well(1));
}

/// A connection of shared memory tells nothing, and UCX's questions do not come before this is
/// over.
bool hear_of_end(Meeting& meeting, std::size_t rank, bool sleeping)
{
    setenv("UCX_KEEPALIVE_INTERVAL", "1000s", 1);
    End end;
    if (!end.meet(meeting, rank)) {
        return false;
    }
    end.send(8);
    end.poll_for(1);
    ++meeting.over;
    while (meeting.over < 2) {
        end.fabric.poll(end.counter);
    }
    if (rank == 0) {
        kill(getpid(), SIGKILL);
    }
    end.counter.departed = end.peer;
    const auto limit = Clock::now() + std::chrono::seconds(100);
    while (!end.counter.heard_of_end && Clock::now() < limit) {
        end.fabric.poll(end.counter);
        if (sleeping) {
            static_cast<void>(end.fabric.arm());
            usleep(1000);
        }
    }
    end.fabric.close_network(end.counter, std::chrono::seconds(2));
    return end.counter.heard_of_end && end.counter.in_order;
}

class NeighboursThatEnd : public testing::TestWithParam<bool> {};

/// Nobody has waited for it yet; whether one sleeps or only polls.
TEST_P(NeighboursThatEnd, AreHeardOf)
{
    const bool sleeping = GetParam();
    const Both both([sleeping](Meeting& meeting, std::size_t rank) {
        return hear_of_end(meeting, rank, sleeping);
    });
    EXPECT_TRUE(both.went_well(1));
    EXPECT_FALSE(both.went_well(0));
}

INSTANTIATE_TEST_SUITE_P(JoinedFabric, NeighboursThatEnd, testing::Bool());

/// Of this process itself, which the kernel always lets it copy from.
TEST(JoinedFabric, AsksTheKernelForCopiesUntilItDoes)
{
    JoinedFabric fabric({.transports = "posix,self"});
    const std::uint64_t identity = 4711;
    const std::uint64_t another = 4712;
    const auto at = reinterpret_cast<std::uintptr_t>(&identity);
    const fabric::PeerAddress peer{.identity = identity,
                                   .bell = {.owner = getpid(), .descriptor = -1}};
    EXPECT_FALSE(fabric.copies(peer, 8)); // no memory
    EXPECT_FALSE(fabric.copies(peer, reinterpret_cast<std::uintptr_t>(&another)));
    EXPECT_TRUE(fabric.copies(peer, at));
    EXPECT_TRUE(fabric.copies(peer, 8));
    EXPECT_FALSE(fabric.copies({.identity = another, .bell = peer.bell}, at));
}

/// As a program does that starts MPI again, with sessions.
TEST(JoinedFabric, ANetworkThatWasClosedIsOpenedAgain)
{
    const pid_t process = unit::start_process([] {
        JoinedFabric fabric({.transports = "posix,self"});
        Counter nobody;
        bool good = true;
        for (int life = 0; life < 3; ++life) {
            good = good && fabric.open_network() && fabric.network() != nullptr;
            good = good && !fabric.network()->address().empty() && !fabric.poll(nobody);
            fabric.close_network(nobody, std::chrono::seconds(2));
            good = good && fabric.network() == nullptr && !fabric.poll(nobody);
        }
        return good;
    });
    EXPECT_TRUE(unit::went_well(process));
}

/// Waits until the other one says so, while it polls nothing.
void wait_for(const std::atomic<int>& word, int value)
{
    while (word < value) {
        usleep(100);
    }
}

/// Rank 0 sends once more when rank 1 has closed its network. Both open another, and what comes
/// there must be what is sent there.
bool leave_one_in_a_box(Meeting& meeting, std::size_t rank)
{
    constexpr std::uint64_t rounds = 50;
    End end;
    bool good = true;
    for (int life = 1; life <= 2; ++life) {
        end.counter = {};
        end.sent = 0;
        if (!end.meet(meeting, rank)) {
            return false;
        }
        for (std::uint64_t round = 1; round <= 2 * rounds; ++round) {
            if (rank == 0) {
                end.send(8);
            }
            good = good && end.poll_briefly_for(round);
            if (rank == 1) {
                end.send(8);
            }
            if (life == 1 && round == rounds) {
                break;
            }
        }
        good = good && end.counter.in_order;
        if (rank == 0) {
            wait_for(meeting.over, 2 * life - 1);
        }
        if (rank == 0 && life == 1) {
            end.sent = 4711; // what it says differs from that of any other
            end.send(8);
        }
        end.fabric.close_network(end.counter, std::chrono::seconds(2));
        ++meeting.over;
        wait_for(meeting.over, 2 * life);
    }
    return good;
}

TEST(JoinedFabric, WhatIsLeftInABoxIsNotOfTheNextNetwork)
{
    const Both both(leave_one_in_a_box);
    EXPECT_TRUE(both.went_well(0));
    EXPECT_TRUE(both.went_well(1));
}

/// Rank 1 closes its network and opens another, while that of rank 0 goes on.
bool come_back(Meeting& meeting, std::size_t rank)
{
    constexpr std::uint64_t rounds = 50;
    constexpr int lives = 3;
    End end;
    bool good = true;
    for (int life = 1; life <= lives; ++life) {
        end.counter = {};
        end.counter.departed = rank == 0 ? end.peer : -1;
        end.sent = 0;
        if (rank == 0 && life > 1) {
            end.meet_again(meeting, rank);
        } else if (!end.meet(meeting, rank)) {
            return false;
        }
        for (std::uint64_t round = 1; round <= rounds + static_cast<std::uint64_t>(life); ++round) {
            if (rank == 0) {
                end.send(round % 7 == 3 ? 1000 : 8);
            }
            good = good && end.poll_briefly_for(round);
            if (rank == 1) {
                end.send(round % 7 == 3 ? 1000 : 8);
            }
        }
        good = good && end.counter.in_order;
        ++meeting.over;
        while (meeting.over < 2 * life) {
            end.fabric.poll(end.counter);
        }
        if (rank == 1) {
            end.fabric.close_network(end.counter, std::chrono::seconds(2));
        }
    }
    return good;
}

TEST(JoinedFabric, AProcessComesBackToOneThatStays)
{
    const Both both(come_back);
    EXPECT_TRUE(both.went_well(0));
    EXPECT_TRUE(both.went_well(1));
}

INSTANTIATE_TEST_SUITE_P(Bells, Joined, testing::Bool(), [](const auto& parameter) {
    return parameter.param ? "lingering" : "plain";
});

} // namespace
} // namespace sidelight::network_tests
