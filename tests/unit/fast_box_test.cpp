// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/fast_box.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace sidelight::unit {
namespace {

using fabric::FastBox;
using fabric::FastBoxes;
using fabric::FastInbox;
using fabric::FastMessage;
using fabric::FastOutbox;

constexpr std::uint64_t me = 4711;

std::span<const std::byte> bytes_of(const std::string& text)
{
    return std::as_bytes(std::span(text));
}

struct Taken {
    std::uint64_t number;
    std::string text;
    bool operator==(const Taken&) const = default;
};

std::vector<Taken> take_all(FastInbox& inbox)
{
    std::vector<Taken> taken;
    const bool any = inbox.take([&](const FastMessage& message) {
        EXPECT_EQ(message.sender, me);
        taken.push_back(
            {message.number, std::string(reinterpret_cast<const char*>(message.bytes.data()),
                                         message.bytes.size())});
    });
    EXPECT_EQ(any, !taken.empty());
    return taken;
}

class FastBoxTest : public testing::Test {
protected:
    FastOutbox claim() { return {boxes_->claim(), me}; }

    std::unique_ptr<FastBoxes> boxes_ = std::make_unique<FastBoxes>();
    FastInbox inbox_{*boxes_};
};

TEST_F(FastBoxTest, MessagesComeOutAsTheyWentIn)
{
    FastOutbox outbox = claim();
    EXPECT_TRUE(inbox_.empty());
    EXPECT_TRUE(outbox.put(0, bytes_of("first")));
    EXPECT_TRUE(outbox.put(1, bytes_of("")));
    const std::string longest(FastBox::capacity, 'x');
    EXPECT_TRUE(outbox.put(100, bytes_of(longest)));
    EXPECT_FALSE(inbox_.empty());
    EXPECT_EQ(take_all(inbox_), (std::vector<Taken>{{0, "first"}, {1, ""}, {100, longest}}));
    EXPECT_TRUE(inbox_.empty());
    EXPECT_TRUE(take_all(inbox_).empty());
}

TEST_F(FastBoxTest, WhatIsTooLongOrComesToAFullBoxIsRefused)
{
    FastOutbox outbox = claim();
    EXPECT_FALSE(outbox.put(0, bytes_of(std::string(FastBox::capacity + 1, 'x'))));
    for (std::uint64_t round = 0; round < 3; ++round) {
        std::vector<Taken> expected;
        for (std::uint64_t i = 0; i < FastBox::slots; ++i) {
            expected.push_back({100 * round + 2 * i, std::to_string(i)});
            EXPECT_TRUE(outbox.put(expected.back().number, bytes_of(expected.back().text)));
        }
        EXPECT_FALSE(outbox.put(100 * round + 50, bytes_of("one too many")));
        EXPECT_EQ(take_all(inbox_), expected);
    }
}

TEST_F(FastBoxTest, WithoutABoxNothingIsTaken)
{
    for (std::uint32_t i = 0; i < FastBoxes::count; ++i) {
        EXPECT_NE(boxes_->claim(), nullptr);
    }
    EXPECT_EQ(boxes_->claim(), nullptr);
    FastOutbox late = claim();
    EXPECT_FALSE(late.put(0, bytes_of("nobody")));
    EXPECT_FALSE(FastOutbox().put(0, bytes_of("nobody")));
    EXPECT_TRUE(take_all(inbox_).empty());
}

TEST_F(FastBoxTest, OthersDoNotWaitForASenderThatDiedInTheMiddle)
{
    FastBox* dead = boxes_->claim();
    FastOutbox living = claim();
    std::memset(static_cast<std::byte*>(dead->slot[0].bytes), 'x', FastBox::capacity);
    EXPECT_TRUE(inbox_.empty());
    EXPECT_TRUE(living.put(0, bytes_of("here")));
    EXPECT_EQ(take_all(inbox_), (std::vector<Taken>{{0, "here"}}));
}

/// The other side may write anything into its lines.
TEST_F(FastBoxTest, NothingInTheMemoryLeadsOutOfABox)
{
    FastBox* box = boxes_->claim();
    FastOutbox outbox(box, me);
    const auto filled = [](std::uint64_t number, std::uint64_t length) {
        return (number + 1) << FastBox::length_bits | length;
    };
    box->slot[0].filled = filled(5, 0xffff);
    const std::vector<Taken> taken = take_all(inbox_);
    ASSERT_EQ(taken.size(), 1U);
    EXPECT_EQ(taken.front().text.size(), FastBox::capacity);
    box->slot[1].filled = filled(5, 3); // no higher than the one before
    EXPECT_TRUE(take_all(inbox_).empty());
    boxes_->claimed = 0xffffffff;
    EXPECT_TRUE(inbox_.empty());
    EXPECT_EQ(boxes_->claim(), nullptr);
    box->taken = 1000; // more than were ever sent
    std::uint64_t number = 10;
    for (std::size_t i = 0; i < FastBox::slots; ++i) {
        EXPECT_TRUE(outbox.put(++number, bytes_of("fits")));
    }
    EXPECT_FALSE(outbox.put(++number, bytes_of("does not")));
}

/// Several send to one, as fast as they can; every message says which it is. Threads in place of
/// processes, so that ThreadSanitizer sees both sides.
TEST(FastBoxThreads, NothingIsLostOrTornOrOutOfOrder)
{
    struct Note {
        std::uint64_t number;
        std::uint64_t check;
        std::uint64_t more[24];
    };
    const auto words_of = [](std::uint64_t number) { return 3 + number % 24; };
    // Where others take the cores a yield is slower: it gives up the rest of a slice.
    const auto pause = [] { std::this_thread::sleep_for(std::chrono::microseconds(20)); };
    constexpr std::uint64_t senders = 3;
    constexpr std::uint64_t messages = 100000;
    const auto boxes = std::make_unique<FastBoxes>();
    std::vector<std::jthread> threads;
    for (std::uint64_t sender = 0; sender < senders; ++sender) {
        threads.emplace_back([&, sender, pause] {
            FastOutbox outbox(boxes->claim(), sender);
            for (std::uint64_t number = 0; number < messages; ++number) {
                Note note{.number = number, .check = ~number, .more = {}};
                const std::size_t words = words_of(number);
                note.more[words - 3] = number;
                while (!outbox.put(number, std::as_bytes(std::span(&note, 1)).first(8 * words))) {
                    pause();
                }
            }
        });
    }
    FastInbox inbox(*boxes);
    std::array<std::uint64_t, senders> next{};
    std::uint64_t wrong = 0;
    for (std::uint64_t taken = 0; taken < senders * messages;) {
        const bool any = inbox.take([&](const FastMessage& message) {
            Note note{};
            std::memcpy(&note, message.bytes.data(), std::min(message.bytes.size(), sizeof note));
            const std::uint64_t number = next.at(message.sender)++;
            const std::size_t words = words_of(number);
            wrong += message.number != number || note.number != number || note.check != ~number ||
                     message.bytes.size() != 8 * words || note.more[words - 3] != number;
            ++taken;
        });
        if (!any) {
            pause();
        }
    }
    EXPECT_EQ(wrong, 0U);
    EXPECT_TRUE(inbox.empty());
}

} // namespace
} // namespace sidelight::unit
