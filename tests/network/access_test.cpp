// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include <signal.h>
#include <sys/wait.h>

#include "fabric/remote_memory.hpp"
#include "network/traffic.hpp"

/// Memory of peers, read and written through the fabric. Where UCX has no hardware for it, it sends
/// messages of its own, which the peer's polls perform.
namespace sidelight::network_tests {
namespace {

using fabric::Access;
using fabric::AccessPiece;
using fabric::Completion;
using fabric::ExposedMemory;
using fabric::RemoteMemory;

class Accesses : public testing::TestWithParam<const char*> {};

struct Done : Completion {
    Done() noexcept
    {
        finished = note;
        left = note_left;
    }
    /// What is read may be overwritten then.
    static void note_left(Completion& self) noexcept
    {
        auto& done = static_cast<Done&>(self);
        EXPECT_EQ(done.times, 0) << "told when it is over";
        EXPECT_FALSE(std::exchange(done.has_left, true));
        std::fill(done.reads.begin(), done.reads.end(), std::byte{0xEE});
    }
    static void note(Completion& self, Status with) noexcept
    {
        auto& done = static_cast<Done&>(self);
        ++done.times;
        done.status = with;
    }
    int times = 0;
    bool has_left = false;
    std::span<std::byte> reads;
    Status status = Status::other;
};

bool is_under_way(Access state) { return state == Access::pending || state == Access::left; }

/// Takes keys, which come as zero-copy messages, and answers nothing.
class KeyTaker final : public fabric::Receiver {
public:
    void receive(int, std::span<const std::byte> message) noexcept override
    {
        std::memcpy(key.data(), message.data(), std::min(message.size(), key.size()));
        bytes = message.size();
    }
    std::byte* place(int, std::span<const std::byte>, std::size_t) noexcept override
    {
        return nullptr;
    }
    void placed(int, std::span<const std::byte>, std::size_t) noexcept override {}
    void lost(int) noexcept override { ++losses; }

    [[nodiscard]] std::span<const std::byte> sent() const { return std::span(key).first(bytes); }
    std::array<std::byte, fabric::max_key> key{};
    std::size_t bytes = 0;
    int losses = 0;
};

/// Both expose memory, and have the other's key. `accesses` becomes true on the way.
class Exposed {
public:
    Exposed(Member& member, std::size_t bytes) : member_(member), memory(bytes)
    {
        EXPECT_TRUE(member.fabric().expose(memory, exposed_));
        EXPECT_GT(exposed_.key_bytes, 0U);
        EXPECT_EQ(
            member.fabric().send(other(), std::span(exposed_.key).first(exposed_.key_bytes), {}),
            Status::ok);
        member.fabric().push();
        EXPECT_TRUE(member.poll_until(taker, [this] { return taker.bytes != 0; }));
        EXPECT_TRUE(member.fabric().accesses(other()));
        theirs = member.fabric().open(other(), taker.sent());
        EXPECT_NE(theirs, nullptr);
    }
    ~Exposed()
    {
        theirs.reset();
        member_.fabric().conceal(exposed_);
    }
    Exposed(const Exposed&) = delete;
    Exposed& operator=(const Exposed&) = delete;

    [[nodiscard]] int other() const { return member_.peer(1 - member_.rank()); }

    /// Starts it, and waits until it is over.
    Status perform(bool put, std::span<const AccessPiece> pieces)
    {
        Done done;
        const Access state = put ? theirs->put(pieces, done) : theirs->get(pieces, done);
        EXPECT_EQ(done.times, 0) << "told within the call";
        member_.fabric().push();
        if (is_under_way(state)) {
            EXPECT_TRUE(member_.poll_until(taker, [&] { return done.times != 0; }));
            EXPECT_EQ(done.times, 1);
            return done.status;
        }
        return state == Access::complete ? Status::ok : Status::unsupported;
    }

private:
    Member& member_;
    ExposedMemory exposed_;

public:
    KeyTaker taker;
    std::vector<std::byte> memory;
    std::unique_ptr<RemoteMemory> theirs;
};

std::byte value(int rank, std::size_t index)
{
    return static_cast<std::byte>(static_cast<std::size_t>(rank) * 101 + index * 7 + (index >> 8));
}

} // namespace

TEST_P(Accesses, PutIsThereWhenItIsOver)
{
    EXPECT_TRUE(run_team(
        2, GetParam(),
        [](Member& member) {
            member.meet_all();
            constexpr std::size_t bytes = 3 << 20;
            Exposed all(member, bytes);
            EXPECT_TRUE(member.barrier(all.taker));
            if (member.rank() == 0) {
                std::vector<std::byte> data(bytes);
                for (std::size_t i = 0; i < bytes; ++i) {
                    data[i] = value(0, i);
                }
                std::size_t at = 1;
                for (const std::size_t length : {1, 8, 4097, 70'000, 2'000'000}) {
                    const AccessPiece piece{.here = data.data() + at, .there = at, .bytes = length};
                    EXPECT_EQ(all.perform(true, {&piece, 1}), Status::ok);
                    at += length + 3;
                }
                member.board().words[0].store(static_cast<int>(at));
            }
            EXPECT_TRUE(
                member.poll_until(all.taker, [&] { return member.board().words[0].load() != 0; }));
            // No message, no barrier of the network: it was told by shared memory.
            std::size_t at = 1;
            for (const std::size_t length : {1, 8, 4097, 70'000, 2'000'000}) {
                for (std::size_t i = at; member.rank() == 1 && i < at + length; ++i) {
                    ASSERT_EQ(all.memory[i], value(0, i)) << i;
                }
                if (member.rank() == 1) {
                    EXPECT_EQ(all.memory[at + length], std::byte{0});
                }
                at += length + 3;
            }
            EXPECT_TRUE(member.barrier(all.taker));
            EXPECT_EQ(all.taker.losses, 0);
        },
        Opening::always));
}

/// Its memory is used again as soon as that is allowed, at once or when it is told.
TEST_P(Accesses, WhatHasLeftMayBeOverwritten)
{
    EXPECT_TRUE(run_team(
        2, GetParam(),
        [](Member& member) {
            member.meet_all();
            constexpr std::size_t most = 2'000'000;
            Exposed all(member, most);
            EXPECT_TRUE(member.barrier(all.taker));
            for (const std::size_t length : {std::size_t{8}, std::size_t{5000}, most}) {
                std::vector<std::byte> data(length);
                for (std::size_t i = 0; i < length; ++i) {
                    data[i] = value(member.rank(), i);
                }
                Done done;
                done.reads = data;
                const AccessPiece piece{.here = data.data(), .there = 0, .bytes = length};
                if (all.theirs->put({&piece, 1}, done) == Access::left) {
                    Done::note_left(done);
                }
                member.fabric().push();
                EXPECT_TRUE(member.poll_until(all.taker, [&] { return done.times != 0; }));
                EXPECT_TRUE(member.barrier(all.taker));
                for (std::size_t i = 0; i < length; ++i) {
                    ASSERT_EQ(all.memory[i], value(1 - member.rank(), i)) << i;
                }
                EXPECT_TRUE(member.barrier(all.taker));
            }
        },
        Opening::always));
}

TEST_P(Accesses, ManyPiecesGoBothWaysAtOnce)
{
    EXPECT_TRUE(run_team(
        2, GetParam(),
        [](Member& member) {
            member.meet_all();
            constexpr std::size_t length = 321;
            constexpr std::size_t most = RemoteMemory::most_pieces;
            Exposed all(member, most * length * 2);
            std::vector<std::byte> mine(most * length);
            std::vector<std::byte> got(most * length);
            for (std::size_t i = 0; i < mine.size(); ++i) {
                mine[i] = value(member.rank(), i);
            }
            EXPECT_TRUE(member.barrier(all.taker));
            std::vector<AccessPiece> out;
            std::vector<AccessPiece> back;
            for (std::size_t i = 0; i < most; ++i) {
                const std::uint64_t there = (most - 1 - i) * 2 * length;
                out.push_back({mine.data() + i * length, there, length});
                back.push_back({got.data() + i * length, there, length});
            }
            constexpr int rounds = 50;
            std::vector<Done> puts(rounds);
            for (Done& done : puts) { // all under way together
                EXPECT_TRUE(is_under_way(all.theirs->put(out, done)));
                member.fabric().push();
            }
            EXPECT_TRUE(member.poll_until(all.taker, [&] {
                return std::all_of(puts.begin(), puts.end(),
                                   [](const Done& done) { return done.times == 1; });
            }));
            EXPECT_EQ(all.perform(false, back), Status::ok);
            EXPECT_EQ(got, mine);
            EXPECT_TRUE(member.barrier(all.taker));
            for (std::size_t i = 0; i < most * length * 2; ++i) {
                const std::size_t piece = most - 1 - i / (2 * length);
                const bool hole = i % (2 * length) >= length;
                ASSERT_EQ(all.memory[i],
                          hole ? std::byte{0}
                               : value(1 - member.rank(), piece * length + i % (2 * length)))
                    << i;
            }
        },
        Opening::always));
}

TEST_P(Accesses, WrongKeysOpenNothing)
{
    EXPECT_TRUE(run_team(
        2, GetParam(),
        [](Member& member) {
            member.meet_all();
            Exposed all(member, 4096);
            std::mt19937 random(7);
            const std::span<const std::byte> right = all.taker.sent();
            for (int round = 0; round < 300; ++round) {
                std::vector<std::byte> wrong(right.begin(), right.end());
                if (round % 3 == 0) {
                    wrong.resize(random() % wrong.size());
                } else {
                    wrong[random() % wrong.size()] ^= static_cast<std::byte>(1 + random() % 255);
                }
                EXPECT_EQ(member.fabric().open(all.other(), wrong), nullptr);
            }
            EXPECT_TRUE(member.barrier(all.taker));
        },
        Opening::always));
}

/// They are connected by then: UCX 1.22 does not notice on shared memory that a peer has died while
/// a connection to it was made.
TEST_P(Accesses, EndWithAnErrorWhereThePeerDies)
{
    const std::vector<int> ends = run_team_to_any_end(
        2, GetParam(),
        [](Member& member) {
            member.meet_all();
            constexpr std::size_t bytes = 512;
            Exposed all(member, bytes);
            std::vector<std::byte> data(bytes);
            const AccessPiece piece{.here = data.data(), .there = 0, .bytes = bytes};
            EXPECT_EQ(all.perform(true, {&piece, 1}), Status::ok);
            EXPECT_TRUE(member.barrier(all.taker));
            if (member.rank() == 1) {
                raise(SIGKILL);
            }
            std::vector<Done> puts(10);
            std::vector<Done> gets(10);
            std::size_t pending = 0;
            for (std::size_t i = 0; i < puts.size(); ++i) {
                pending += is_under_way(all.theirs->put({&piece, 1}, puts[i])) ? 1 : 0;
                pending += is_under_way(all.theirs->get({&piece, 1}, gets[i])) ? 1 : 0;
                member.fabric().push();
            }
            const auto told = [&] {
                std::size_t times = 0;
                for (std::size_t i = 0; i < puts.size(); ++i) {
                    times += static_cast<std::size_t>(puts[i].times + gets[i].times);
                }
                return times;
            };
            EXPECT_TRUE(member.poll_until(
                all.taker, [&] { return all.taker.losses != 0 && told() == pending; }))
                << told() << " of " << pending << ", losses " << all.taker.losses;
            EXPECT_EQ(all.taker.losses, 1);
            EXPECT_FALSE(member.fabric().accesses(all.other()));
            Done late;
            EXPECT_EQ(all.theirs->put({&piece, 1}, late), Access::failed);
        },
        Opening::always);
    ASSERT_EQ(ends.size(), 2U);
    EXPECT_TRUE(WIFEXITED(ends[0]) && WEXITSTATUS(ends[0]) == 0) << ends[0];
}

TEST_P(Accesses, OutliveTheFabricThatIsClosed)
{
    EXPECT_TRUE(run_team(
        2, GetParam(),
        [](Member& member) {
            member.meet_all();
            Exposed all(member, 4096);
            EXPECT_TRUE(member.barrier(all.taker));
            EXPECT_TRUE(member.fabric().close(all.taker, std::chrono::seconds(60)));
            std::byte byte{};
            const AccessPiece piece{.here = &byte, .there = 0, .bytes = 1};
            Done done;
            EXPECT_EQ(all.theirs->get({&piece, 1}, done), Access::failed);
        },
        Opening::always));
}

/// Without hardware nothing is opened unless it is asked for.
TEST_P(Accesses, AreNotOfferedWhereUcxSendsMessages)
{
    EXPECT_TRUE(run_team(2, GetParam(), [](Member& member) {
        member.meet_all();
        KeyTaker taker;
        const int other = member.peer(1 - member.rank());
        EXPECT_FALSE(member.fabric().accesses(other));
        EXPECT_TRUE(member.barrier(taker));
        if (member.fabric().description().find("by hardware") == std::string::npos) {
            EXPECT_FALSE(member.fabric().accesses(other));
        }
        EXPECT_TRUE(member.barrier(taker));
    }));
}

INSTANTIATE_TEST_SUITE_P(Transports, Accesses, testing::ValuesIn(all_transports), transports_name);

} // namespace sidelight::network_tests
