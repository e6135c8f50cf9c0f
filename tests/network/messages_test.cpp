// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <malloc.h>

#include <random>

#include "network/traffic.hpp"

namespace sidelight::network_tests {
namespace {

class Messages : public testing::TestWithParam<const char*> {};

TEST_P(Messages, ArriveOnceWholeAndInOrder)
{
    EXPECT_TRUE(run_team(2, GetParam(), [](Member& member) {
        member.meet_all();
        Checker checker(member);
        const int other = 1 - member.rank();
        Sender sender(member, other);
        std::mt19937 random(static_cast<unsigned>(member.rank()));
        constexpr std::uint64_t shorts = 20000;
        constexpr std::uint64_t longs = 200;
        while (sender.shorts < shorts) {
            sender.send_short(random() % (random() % 4 == 0 ? 4000 : 100));
            if (sender.shorts % (shorts / longs) == 0) {
                const std::size_t limit = random() % 3 == 0 ? 3000000 : 70000;
                sender.send_zero_copy(random() % limit);
            }
            if (random() % 8 == 0) {
                member.fabric().push();
                member.fabric().poll(checker);
            }
        }
        member.fabric().push();
        EXPECT_TRUE(member.poll_until(checker,
                                      [&] {
                                          return checker.short_from(other) == shorts &&
                                                 checker.longs == longs && sender.finished == longs;
                                      }))
            << checker.short_from(other) << " short, " << checker.longs << " long, "
            << sender.finished << " finished";
        EXPECT_EQ(sender.failed, 0U);
        EXPECT_TRUE(member.barrier(checker));
        EXPECT_EQ(checker.short_from(other), shorts);
        EXPECT_EQ(checker.longs, longs);
        EXPECT_TRUE(checker.lost_ranks.empty());
        EXPECT_TRUE(member.fabric().close(checker, std::chrono::seconds(60)));
    }));
}

TEST_P(Messages, OfBurstsKeepTheirOrder)
{
    EXPECT_TRUE(run_team(2, GetParam(), [](Member& member) {
        member.meet_all();
        Checker checker(member);
        const int other = 1 - member.rank();
        Sender sender(member, other);
        std::mt19937 random(1);               // both send alike
        constexpr std::size_t most = 300'000; // a batch is 8 KB, those behind it 64 KB
        for (int burst = 0; burst < 200; ++burst) {
            const std::size_t bytes = random() % most;
            for (std::size_t sent = 0; sent < bytes;) {
                const std::size_t next = random() % (random() % 2 == 0 ? 7900 : 300);
                sender.send_short(next);
                sent += next + 1;
            }
            if (random() % 4 == 0) {
                sender.send_zero_copy(random() % most);
            }
            member.fabric().push();
            member.fabric().poll(checker);
        }
        EXPECT_TRUE(member.poll_until(checker, [&] {
            return sender.finished == sender.longs && checker.longs == sender.longs &&
                   checker.short_from(other) == sender.shorts;
        }));
        EXPECT_TRUE(member.barrier(checker));
    }));
}

TEST_P(Messages, AHundredThousandAmongThree)
{
    EXPECT_TRUE(run_team(3, GetParam(), [](Member& member) {
        member.meet_all();
        Checker checker(member);
        constexpr std::uint64_t each = 17000; // to each of the others: 102,000 in all
        const int next = (member.rank() + 1) % 3;
        const int before = (member.rank() + 2) % 3;
        Sender to_next(member, next);
        Sender to_before(member, before);
        for (std::uint64_t i = 0; i < each; ++i) {
            to_next.send_short(i % 64);
            to_before.send_short(i % 32);
            if (i % 50 == 0) {
                member.fabric().push();
                member.fabric().poll(checker);
            }
        }
        member.fabric().push();
        EXPECT_TRUE(member.poll_until(checker, [&] {
            return checker.short_from(next) == each && checker.short_from(before) == each;
        }));
        EXPECT_TRUE(member.barrier(checker));
    }));
}

/// Answers each message with another until there have been enough, from within `receive`.
class PingPong final : public Checker {
public:
    PingPong(Member& member, Sender& sender, std::uint64_t rounds)
        : Checker(member), sender_(sender), rounds_(rounds)
    {}

    void received(int /*from*/, const Label& label) noexcept override
    {
        if (sender_.shorts < rounds_) {
            sender_.send_short(label.index % 3000);
            if (label.index % 3 == 0) {
                sender_.send_zero_copy(label.index * 100);
            }
        }
    }

private:
    Sender& sender_;
    std::uint64_t rounds_;
};

TEST_P(Messages, AreSentFromWithinReceive)
{
    EXPECT_TRUE(run_team(2, GetParam(), [](Member& member) {
        member.meet_all();
        constexpr std::uint64_t rounds = 1000;
        Sender sender(member, 1 - member.rank());
        PingPong checker(member, sender, rounds);
        if (member.rank() == 0) {
            sender.send_short(8);
        }
        EXPECT_TRUE(member.poll_until(checker, [&] {
            member.fabric().push();
            return checker.short_from(1 - member.rank()) == rounds && sender.shorts == rounds &&
                   sender.finished == sender.longs;
        }));
        member.board().words[member.rank()] = static_cast<int>(sender.longs);
        EXPECT_TRUE(member.barrier(checker));
        const auto coming = static_cast<std::uint64_t>(member.board().words[1 - member.rank()]);
        EXPECT_TRUE(member.poll_until(checker, [&] { return checker.longs == coming; }));
        EXPECT_TRUE(member.barrier(checker));
        EXPECT_GT(checker.longs, rounds / 4);
    }));
}

TEST_P(Messages, ToOneselfComeWithPollOnly)
{
    EXPECT_TRUE(run_team(1, GetParam(), [](Member& member) {
        member.meet_all();
        constexpr std::uint64_t rounds = 500;
        Sender sender(member, 0);
        PingPong checker(member, sender, rounds);
        sender.send_short(8);
        sender.send_zero_copy(100000);
        member.fabric().push();
        EXPECT_EQ(checker.short_from(0) + checker.longs, 0U);
        EXPECT_TRUE(member.poll_until(checker, [&] {
            member.fabric().push();
            return checker.short_from(0) == rounds && sender.finished == sender.longs &&
                   checker.longs == sender.longs;
        }));
    }));
}

TEST_P(Messages, AreHeldBackUntilPush)
{
    EXPECT_TRUE(run_team(2, GetParam(), [](Member& member) {
        member.meet_all();
        Checker checker(member);
        Sender sender(member, 1 - member.rank());
        // Connect first, so that what follows is about holding alone.
        sender.send_short(0);
        member.fabric().push();
        EXPECT_TRUE(
            member.poll_until(checker, [&] { return checker.short_from(1 - member.rank()) == 1; }));
        EXPECT_TRUE(member.barrier(checker));
        sender.send_short(100);
        const auto end = Clock::now() + std::chrono::milliseconds(50);
        EXPECT_TRUE(member.poll_until(checker, [&] { return Clock::now() > end; }));
        EXPECT_EQ(checker.short_from(1 - member.rank()), 1U);
        EXPECT_TRUE(member.barrier(checker));
        member.fabric().push();
        EXPECT_TRUE(
            member.poll_until(checker, [&] { return checker.short_from(1 - member.rank()) == 2; }));
        EXPECT_TRUE(member.barrier(checker));
    }));
}

TEST_P(Messages, WaitForAPeerToBeMet)
{
    EXPECT_TRUE(run_team(2, GetParam(), [](Member& member) {
        Checker checker(member);
        Sender sender(member, 1 - member.rank());
        if (member.rank() == 0) {
            member.meet(0);
            member.meet(1);
            sender.send_short(10);
            member.fabric().push();
            EXPECT_TRUE(member.poll_until(checker, [&] { return checker.short_from(1) == 1; }));
        } else {
            // The number of the sender is known before its address is.
            struct First final : fabric::Receiver {
                void receive(int peer, std::span<const std::byte>) noexcept override
                {
                    from = peer;
                }
                std::byte* place(int, std::span<const std::byte>, std::size_t) noexcept override
                {
                    return nullptr;
                }
                void placed(int, std::span<const std::byte>, std::size_t) noexcept override {}
                void lost(int) noexcept override {}
                int from = -1;
            } first;
            EXPECT_TRUE(member.poll_until(first, [&] { return first.from >= 0; }));
            member.expect_peer(0, first.from);
            sender.send_short(20);
            member.fabric().push();
            for (int i = 0; i < 100; ++i) {
                member.fabric().poll(checker);
            }
            EXPECT_EQ(member.meet(0), first.from);
        }
        EXPECT_TRUE(member.barrier(checker));
    }));
}

TEST_P(Messages, WithoutAPlaceAreThrownAway)
{
    EXPECT_TRUE(run_team(2, GetParam(), [](Member& member) {
        member.meet_all();
        Checker checker(member);
        checker.refuse_every = 2;
        Sender sender(member, 1 - member.rank());
        for (std::size_t bytes : {0U, 1U, 100U, 9000U, 70000U, 70001U, 2000000U, 3000000U}) {
            sender.send_zero_copy(bytes);
        }
        EXPECT_TRUE(member.poll_until(
            checker,
            [&] { return checker.longs == 4 && checker.refused == 4 && sender.finished == 8; }))
            << checker.longs << ' ' << checker.refused << ' ' << sender.finished;
        EXPECT_TRUE(member.barrier(checker));
    }));
}

TEST_P(Messages, TooLongForTheirCallAreRefused)
{
    EXPECT_TRUE(run_team(1, GetParam(), [](Member& member) {
        const int peer = member.meet(0);
        const std::vector<std::byte> bytes(fabric::max_message);
        fabric::Completion never{.finished = nullptr};
        EXPECT_EQ(member.fabric().send(peer, bytes, {}), Status::ok);
        EXPECT_EQ(member.fabric().send(peer, std::span(bytes).first(1), bytes), Status::argument);
        const std::vector<std::byte> header(1 << 20);
        EXPECT_EQ(member.fabric().send_zero_copy(peer, header, {}, never), Status::argument);
    }));
}

std::size_t allocated() { return mallinfo2().uordblks; }

/// They wait for the address of the peer, each in a batch of its own.
TEST(SpareBatches, AreGivenBackAfterABurst)
{
    EXPECT_TRUE(run_team(2, "posix,self", [](Member& member) {
        constexpr std::uint64_t batches = 2000; // of 8 KB
        constexpr std::size_t most_kept = std::size_t{4} << 20;
        Checker checker(member);
        Sender sender(member, 1);
        if (member.rank() == 0) {
            member.expect_peer(1, 1);
            const std::size_t before = allocated();
            for (std::uint64_t i = 0; i < batches; ++i) {
                sender.send_short(1000);
                member.fabric().push();
            }
            EXPECT_GT(allocated() - before, 2 * most_kept);
            member.meet_all();
            EXPECT_EQ(member.peer(1), 1);
            EXPECT_TRUE(member.barrier(checker));
            EXPECT_LT(allocated(), before + most_kept);
        } else {
            member.meet_all();
            EXPECT_TRUE(
                member.poll_until(checker, [&] { return checker.short_from(0) == batches; }));
            EXPECT_TRUE(member.barrier(checker));
        }
    }));
}

INSTANTIATE_TEST_SUITE_P(Over, Messages, testing::ValuesIn(all_ways), transports_name);

} // namespace
} // namespace sidelight::network_tests
