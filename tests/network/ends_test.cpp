// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptors.hpp"
#include "network/traffic.hpp"

/// Sleeping, losing a peer, and the end.
namespace sidelight::network_tests {
namespace {

class Ends : public testing::TestWithParam<const char*> {};
class Sleepers : public testing::TestWithParam<const char*> {};

/// Sleeps at the event descriptor until the condition holds. Answers how often.
int sleep_until(Member& member, Checker& checker, const std::function<bool()>& condition)
{
    int sleeps = 0;
    const auto end = Clock::now() + std::chrono::seconds(200);
    while (!condition() && Clock::now() < end) {
        if (member.fabric().poll(checker) || member.fabric().arm() != Arming::armed) {
            continue;
        }
        pollfd event{.fd = member.fabric().event_fd(), .events = POLLIN, .revents = 0};
        EXPECT_EQ(poll(&event, 1, 120000), 1) << "nobody woke the sleeper";
        ++sleeps;
    }
    EXPECT_TRUE(condition());
    return sleeps;
}

TEST_P(Sleepers, AreWokenByAMessage)
{
    EXPECT_TRUE(run_team(2, GetParam(), [](Member& member) {
        member.meet_all();
        Checker checker(member);
        const int other = 1 - member.rank();
        Sender sender(member, other);
        constexpr std::uint64_t rounds = 300;
        for (std::uint64_t round = 0; round < rounds; ++round) {
            if (member.rank() == 0) {
                sender.send_short(8);
                if (round % 10 == 0) {
                    sender.send_zero_copy(300000);
                }
                member.fabric().push();
            }
            sleep_until(member, checker, [&] { return checker.short_from(other) > round; });
            if (member.rank() == 1) {
                sender.send_short(8);
                member.fabric().push();
            }
        }
        const std::uint64_t longs = member.rank() == 0 ? 0 : rounds / 10;
        EXPECT_TRUE(member.poll_until(
            checker, [&] { return checker.longs == longs && sender.finished == sender.longs; }));
        EXPECT_TRUE(member.barrier(checker));
    }));
}

/// Looks once, and sleeps unless there is news, until so many have sent something.
void sleep_behind_each_look(Member& member, Checker& checker, int senders)
{
    const auto heard = [&] {
        int count = 0;
        for (int rank = 1; rank <= senders; ++rank) {
            count += checker.short_from(rank) != 0 ? 1 : 0;
        }
        return count;
    };
    while (heard() < senders) {
        member.fabric().poll(checker);
        if (member.fabric().arm() == Arming::armed) {
            member.board().words[0] = 1 + heard();
            pollfd event{.fd = member.fabric().event_fd(), .events = POLLIN, .revents = 0};
            ASSERT_EQ(poll(&event, 1, 30000), 1) << "nobody woke the sleeper";
        }
    }
}

/// One after the other, when it is asleep.
void send_first(Member& member, int before)
{
    while (member.board().words[0] != 1 + before) {
        usleep(1000);
    }
    usleep(20000);
    Sender sender(member, 0);
    sender.send_short(8);
    member.fabric().push();
}

/// UCX has work for several turns then, and who is woken may look once only.
TEST_P(Sleepers, AreWokenByAFirstConnection)
{
    EXPECT_TRUE(run_team(2, GetParam(), [](Member& member) {
        member.meet_all();
        Checker checker(member);
        if (member.rank() == 0) {
            sleep_behind_each_look(member, checker, 1);
        } else {
            send_first(member, 0);
        }
        EXPECT_TRUE(member.barrier(checker));
    }));
}

/// A box that has just brought something puts looks at UCX off.
TEST_P(Sleepers, AreWokenByAFirstConnectionBehindABox)
{
    EXPECT_TRUE(run_team(4, GetParam(), [](Member& member) {
        member.meet_all();
        Checker checker(member);
        if (member.rank() == 0) {
            EXPECT_TRUE(member.poll_until(checker, [&] { return checker.short_from(1) != 0; }));
            sleep_behind_each_look(member, checker, 3);
        } else if (member.rank() == 1) {
            Board& board = member.board();
            member.fabric().use_box(member.peer(0),
                                    fabric::FastOutbox(board.entries[0].boxes.claim(),
                                                       board.entries[1].identity.load()));
            Sender sender(member, 0);
            sender.send_short(8);
            member.fabric().push();
        } else {
            send_first(member, member.rank() - 1);
        }
        EXPECT_TRUE(member.barrier(checker));
    }));
}

/// A program that closes all descriptors that it does not know closes what UCX wakes itself by.
TEST_P(Sleepers, AreToldWhereNothingWouldWakeThem)
{
    EXPECT_TRUE(run_team(1, GetParam(), [](Member& member) {
        Checker checker(member);
        while (member.fabric().poll(checker)) {
        }
        EXPECT_EQ(member.fabric().arm(), Arming::armed);
        any_descriptor([](int descriptor) {
            const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
            if (std::filesystem::read_symlink(link) == "anon_inode:[eventfd]") {
                close(descriptor);
            }
            return false;
        });
        EXPECT_EQ(member.fabric().arm(), Arming::refused);
    }));
}

double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Member 1 is killed while the others do as they are told.
void kill_one(const char* transports, bool with_traffic)
{
    const auto ends = run_team_to_any_end(3, transports, [=](Member& member) {
        member.meet_all();
        Checker checker(member);
        std::vector<Sender> senders;
        for (int rank = 0; rank < 3; ++rank) {
            senders.emplace_back(member, rank);
            if (rank != member.rank()) {
                senders.back().send_short(8);
            }
        }
        member.fabric().push();
        EXPECT_TRUE(member.poll_until(checker, [&] {
            return checker.short_from((member.rank() + 1) % 3) == 1 &&
                   checker.short_from((member.rank() + 2) % 3) == 1;
        }));
        EXPECT_TRUE(member.barrier(checker));
        if (member.rank() == 1) {
            for (int i = 0; i < 50; ++i) {
                member.fabric().poll(checker);
                usleep(1000);
            }
            kill(getpid(), SIGKILL);
        }
        const auto start = Clock::now();
        Sender& to_victim = senders[1];
        EXPECT_TRUE(member.poll_until(checker, [&] {
            if (with_traffic && to_victim.longs < 200) {
                to_victim.send_short(1000);
                to_victim.send_zero_copy(100000);
                member.fabric().push();
                usleep(2000);
            }
            return !checker.lost_ranks.empty();
        }));
        std::printf("lost after %.3f s\n", seconds_since(start) - 0.05);
        EXPECT_EQ(checker.lost_ranks, std::vector<int>{1});
        // Zero-copy messages that were on their way finish, and later ones as well.
        to_victim.send_short(8);
        to_victim.send_zero_copy(8);
        member.fabric().push();
        EXPECT_TRUE(member.poll_until(
            checker, [&] { return to_victim.finished + to_victim.failed == to_victim.longs; }))
            << to_victim.finished << " + " << to_victim.failed << " of " << to_victim.longs;
        EXPECT_GE(to_victim.failed, 1U);
        // The others go on.
        Sender& to_other = senders[static_cast<std::size_t>(2 - member.rank())];
        to_other.send_short(8);
        to_other.send_zero_copy(500000);
        member.fabric().push();
        EXPECT_TRUE(member.poll_until(checker, [&] {
            return checker.longs == 1 && to_other.finished == 1 &&
                   checker.short_from(2 - member.rank()) == 2;
        }));
        EXPECT_EQ(checker.lost_ranks, std::vector<int>{1}) << "told twice";
        member.board().words[0].fetch_add(1);
        EXPECT_TRUE(member.poll_until(checker, [&] { return member.board().words[0] >= 2; }));
    });
    ASSERT_EQ(ends.size(), 3U);
    EXPECT_EQ(ends[0], 0);
    EXPECT_TRUE(WIFSIGNALED(ends[1]) && WTERMSIG(ends[1]) == SIGKILL);
    EXPECT_EQ(ends[2], 0);
}

TEST_P(Ends, AKilledPeerIsLostWithTraffic) { kill_one(GetParam(), true); }
TEST_P(Ends, AKilledPeerIsLostWithout) { kill_one(GetParam(), false); }

/// How a member goes.
enum class Leave { closes, destroys, exits, exits_at_once };

void leave(Member& member, Checker& checker, Leave how)
{
    if (how == Leave::closes) {
        EXPECT_TRUE(member.fabric().close(checker, std::chrono::seconds(60)));
    } else if (how == Leave::exits) {
        std::fflush(nullptr);
        std::exit(testing::Test::HasFailure() ? 1 : 0); // no destructor of the fabric
    } else if (how == Leave::exits_at_once) {
        std::fflush(nullptr);
        _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    member.forget();
}

TEST_P(Ends, InAnyOrderOfEnds)
{
    constexpr std::array ways{Leave::closes, Leave::destroys, Leave::exits, Leave::exits_at_once};
    for (const Leave first : ways) {
        for (const Leave second : ways) {
            SCOPED_TRACE(static_cast<int>(first) * 10 + static_cast<int>(second));
            EXPECT_TRUE(run_team(2, GetParam(), [=](Member& member) {
                member.meet_all();
                Checker checker(member);
                Sender sender(member, 1 - member.rank());
                sender.send_short(1000);
                sender.send_zero_copy(300000);
                member.fabric().push();
                EXPECT_TRUE(member.poll_until(checker, [&] {
                    return checker.longs == 1 && sender.finished == 1 &&
                           checker.short_from(1 - member.rank()) == 1;
                }));
                EXPECT_TRUE(member.barrier(checker));
                if (member.rank() == 0) {
                    leave(member, checker, first);
                } else {
                    for (int i = 0; i < 20; ++i) { // the other is gone, most likely
                        member.fabric().poll(checker);
                        usleep(1000);
                    }
                    leave(member, checker, second);
                }
            }));
        }
    }
}

TEST_P(Ends, CloseSendsWhatIsHeldBack)
{
    const bool is_tcp = std::string(GetParam()) == "tcp";
    EXPECT_TRUE(run_team(2, GetParam(), [=](Member& member) {
        member.meet_all();
        Checker checker(member);
        Sender sender(member, 1);
        if (member.rank() == 0) {
            for (int i = 0; i < 1000; ++i) {
                sender.send_short(1000);
            }
            EXPECT_TRUE(member.fabric().close(checker, std::chrono::seconds(60)));
            member.board().words[0] = 1;
        } else {
            // Over TCP the connection may be reset by what the other end had not read: then some
            // of the last messages are missing, which is why processes agree before they close.
            const auto over = [&] {
                return checker.short_from(0) == 1000 || !checker.lost_ranks.empty() ||
                       (is_tcp && member.board().words[0] == 1);
            };
            EXPECT_TRUE(member.poll_until(checker, over));
            EXPECT_TRUE(is_tcp || checker.short_from(0) == 1000);
        }
    }));
}

TEST_P(Ends, WithoutTheOtherTakesItsTimeOnly)
{
    EXPECT_TRUE(run_team(2, GetParam(), [](Member& member) {
        member.meet_all();
        Checker checker(member);
        Sender sender(member, 1);
        if (member.rank() == 0) {
            for (int i = 0; i < 20; ++i) {
                sender.send_zero_copy(4000000); // nobody takes them
            }
            const auto start = Clock::now();
            EXPECT_FALSE(member.fabric().close(checker, std::chrono::milliseconds(300)));
            EXPECT_LT(seconds_since(start), 60);
            EXPECT_EQ(sender.finished + sender.failed, 20U);
            member.board().words[0] = 1;
        } else {
            while (member.board().words[0] == 0) {
                usleep(1000);
            }
        }
    }));
}

/// As where they were chosen for the host, which has other ways.
TEST(Unreachable, APeerIsExplainedByTheSettingsOfUcx)
{
    setenv("UCX_TLS", "self", 1);
    setenv("UCX_NET_DEVICES", "lo", 1);
    EXPECT_TRUE(run_team(2, "auto", [](Member& member) {
        member.meet_all();
        Checker checker(member);
        if (member.rank() == 0) {
            testing::internal::CaptureStderr();
            Sender sender(member, 1);
            sender.send_short(8);
            member.fabric().push();
            EXPECT_TRUE(member.poll_until(checker, [&] { return !checker.lost_ranks.empty(); }));
            const std::string said = testing::internal::GetCapturedStderr();
            EXPECT_NE(said.find("cannot connect"), std::string::npos) << said;
            EXPECT_NE(said.find("UCX_TLS=self"), std::string::npos) << said;
            EXPECT_NE(said.find("SIDELIGHT_NETWORK"), std::string::npos) << said;
            EXPECT_NE(said.find("UCX_NET_DEVICES=lo"), std::string::npos) << said;
        }
        EXPECT_TRUE(member.barrier(checker));
    }));
    unsetenv("UCX_TLS");
    unsetenv("UCX_NET_DEVICES");
}

INSTANTIATE_TEST_SUITE_P(Over, Sleepers, testing::ValuesIn(all_transports), transports_name);
INSTANTIATE_TEST_SUITE_P(Over, Ends, testing::ValuesIn(all_ways), transports_name);

} // namespace
} // namespace sidelight::network_tests
