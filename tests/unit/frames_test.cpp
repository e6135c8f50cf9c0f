// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/frames.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <vector>

namespace sidelight::unit {
namespace {

using namespace fabric::ucx;

std::vector<std::byte> some_bytes(std::mt19937& random, std::size_t count)
{
    std::vector<std::byte> bytes(count);
    for (std::byte& byte : bytes) {
        byte = static_cast<std::byte>(random());
    }
    return bytes;
}

/// A third of the words are zero, and a third are alike wherever they are.
std::vector<std::byte> some_words(std::mt19937& random, std::size_t count)
{
    std::vector<std::byte> bytes = some_bytes(random, count);
    for (std::size_t word = 0; word < count; word += 8) {
        if (const auto fill = random() % 3; fill != 2) {
            std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(word),
                        std::min<std::size_t>(8, count - word), static_cast<std::byte>(fill));
        }
    }
    return bytes;
}

TEST(Frames, WhatIsAppendedComesOutAgain)
{
    std::mt19937 random(1);
    for (int round = 0; round < 300; ++round) {
        alignas(frame_alignment) std::array<std::byte, 4096> room;
        FrameWriter writer(room);
        std::vector<std::vector<std::byte>> messages;
        for (;;) {
            const auto first = some_words(random, random() % 100);
            const auto second = some_words(random, random() % 3 == 0 ? random() % 300 : 8);
            if (!writer.fits(first.size() + second.size())) {
                break;
            }
            writer.append(first, second);
            messages.push_back(first);
            messages.back().insert(messages.back().end(), second.begin(), second.end());
        }
        writer.seal({.sender = 17, .sequence = 4});
        const auto batch = writer.sealed();
        const auto header = read_plain<BatchHeader>(batch);
        ASSERT_TRUE(header);
        EXPECT_EQ(header->sender, 17U);
        EXPECT_EQ(header->sequence, 4U);
        FrameReader reader(batch.subspan(sizeof(BatchHeader)));
        for (const auto& message : messages) {
            const auto found = reader.next();
            ASSERT_TRUE(found);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(found->data()) % frame_alignment, 0U);
            ASSERT_TRUE(std::equal(found->begin(), found->end(), message.begin(), message.end()));
        }
        EXPECT_FALSE(reader.next());
        EXPECT_FALSE(reader.malformed());
    }
}

TEST(Frames, FitsToTheByte)
{
    for (const std::size_t rest : {std::size_t{40}, short_bytes, short_bytes + 8}) {
        std::vector<std::uint64_t> room((sizeof(BatchHeader) + sizeof(FrameHeader) + rest) / 8);
        FrameWriter writer(std::as_writable_bytes(std::span(room)));
        EXPECT_TRUE(writer.fits(rest));
        EXPECT_FALSE(writer.fits(rest + 1));
        EXPECT_FALSE(writer.fits(~std::size_t{0}));
        EXPECT_FALSE(writer.fits(~std::size_t{0} - 7));
        const std::vector<std::byte> message(rest, std::byte{1});
        writer.append(message, {});
        EXPECT_FALSE(writer.fits(0));
        EXPECT_EQ(writer.sealed().size(), 8 * room.size());
    }
}

TEST(Frames, ZerosOfAShortMessageTakeNoRoom)
{
    const auto frame_of = [](std::size_t bytes, std::size_t one) {
        std::vector<std::uint64_t> room(100);
        FrameWriter writer(std::as_writable_bytes(std::span(room)));
        std::vector<std::byte> message(bytes);
        message.at(one) = std::byte{1};
        writer.append(std::span(message).first(bytes / 2), std::span(message).subspan(bytes / 2));
        FrameReader reader(writer.frames());
        const auto found = reader.next();
        EXPECT_TRUE(found &&
                    std::equal(found->begin(), found->end(), message.begin(), message.end()));
        EXPECT_FALSE(reader.next());
        EXPECT_FALSE(reader.malformed());
        return writer.frames().size();
    };
    for (const std::size_t bytes : {std::size_t{7}, std::size_t{64}, std::size_t{100}}) {
        EXPECT_EQ(frame_of(bytes, 0), sizeof(FrameHeader) + 8);
        EXPECT_EQ(frame_of(bytes, bytes - 1), sizeof(FrameHeader) + 8);
    }
    EXPECT_EQ(frame_of(short_bytes, 9), sizeof(FrameHeader) + 8);
    EXPECT_EQ(frame_of(short_bytes + 8, 9), sizeof(FrameHeader) + short_bytes + 8);
}

TEST(Frames, WordsOfTheShortMessageBeforeTakeNoRoom)
{
    std::vector<std::uint64_t> room(100);
    FrameWriter writer(std::as_writable_bytes(std::span(room)));
    const std::vector<std::vector<std::uint64_t>> messages{
        {1, 2, 3, 4}, {1, 2, 5, 4}, {1, 2}, {1, 2, 6, 0, 7}, {1, 2, 6, 0, 7}};
    const auto frames_bytes = [&](const std::vector<std::uint64_t>& message) {
        const std::size_t before = writer.frames().size();
        writer.append(std::as_bytes(std::span(message)), {});
        return writer.frames().size() - before;
    };
    const std::vector<std::size_t> words{4, 1, 0, 3, 0}; // those that differ
    for (std::size_t index = 0; index < messages.size(); ++index) {
        EXPECT_EQ(frames_bytes(messages[index]), sizeof(FrameHeader) + 8 * words[index]) << index;
    }
    FrameReader reader(writer.frames());
    for (const auto& message : messages) {
        const auto found = reader.next();
        ASSERT_TRUE(found);
        const auto bytes = std::as_bytes(std::span(message));
        EXPECT_TRUE(std::equal(found->begin(), found->end(), bytes.begin(), bytes.end()));
    }
    EXPECT_FALSE(reader.next());
    EXPECT_FALSE(reader.malformed());

    writer.clear();
    EXPECT_EQ(frames_bytes(messages[0]), sizeof(FrameHeader) + 32); // of a batch of its own
}

/// Reads all frames of bytes that lie at the very end of their memory, so that the sanitizers see
/// the first one beyond; a long message must lie inside, a short one is no longer than it may be.
std::size_t read_all(const std::vector<std::byte>& bytes)
{
    const auto exact = std::make_unique<std::byte[]>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), exact.get());
    FrameReader reader({exact.get(), bytes.size()});
    std::size_t messages = 0;
    unsigned sum = 0;
    while (const auto message = reader.next()) {
        if (message->size() > short_bytes) {
            EXPECT_GE(message->data(), exact.get());
            EXPECT_LE(message->data() + message->size(), exact.get() + bytes.size());
        }
        for (const std::byte byte : *message) {
            sum += static_cast<unsigned>(byte);
        }
        ++messages;
    }
    EXPECT_LE(messages, bytes.size() / sizeof(FrameHeader)) << sum;
    return messages;
}

TEST(Frames, AnyBytesAreReadWithinTheirBounds)
{
    std::mt19937 random(2);
    constexpr std::array<std::uint32_t, 9> lengths{
        0,       1, 7, 8, short_bytes, short_bytes + 1, ~std::uint32_t{0}, ~std::uint32_t{0} - 7,
        1U << 31};
    std::size_t messages = 0;
    for (int round = 0; round < 100000; ++round) {
        const std::size_t most = random() % 4 == 0 ? 800 : 80;
        std::vector<std::byte> bytes = some_bytes(random, random() % most);
        // Lengths that nearly fit, in places where a length may be, with words that are nearly
        // there.
        for (std::size_t place = 0; place + sizeof(FrameHeader) <= bytes.size(); place += 8) {
            const unsigned choice = random() % 4;
            const auto left =
                static_cast<std::uint32_t>(bytes.size() - place - sizeof(FrameHeader));
            const auto some = static_cast<std::uint32_t>(random());
            const std::uint32_t length = choice == 0   ? lengths.at(some % lengths.size())
                                         : choice == 1 ? left + some % 3 - 1
                                                       : some % 24;
            const FrameHeader header{
                .bytes = length, .words = static_cast<std::uint32_t>(random()) >> random() % 32};
            std::memcpy(bytes.data() + place, &header, sizeof header);
        }
        messages += read_all(bytes);
    }
    EXPECT_GT(messages, 1000U) << "the bytes are too far from frames to show anything";
}

TEST(Frames, ALengthBeyondTheEndIsMalformed)
{
    const auto malformed = [](const FrameHeader& header, std::size_t follow) {
        std::vector<std::byte> frame(sizeof header + follow);
        std::memcpy(frame.data(), &header, sizeof header);
        FrameReader reader(frame);
        return !reader.next() && reader.malformed();
    };
    constexpr std::uint32_t whole = short_bytes + 1;
    EXPECT_FALSE(malformed({.bytes = whole, .words = 0}, whole + 7));
    EXPECT_TRUE(malformed({.bytes = whole, .words = 0}, whole + 6));
    EXPECT_TRUE(malformed({.bytes = ~std::uint32_t{0}, .words = 0}, 400));
    EXPECT_TRUE(malformed({.bytes = ~std::uint32_t{0} - 6, .words = 0}, 400));
    // Of a short one: words that are not there, part of a word, words beyond its length.
    EXPECT_FALSE(malformed({.bytes = 16, .words = 3}, 16));
    EXPECT_TRUE(malformed({.bytes = 16, .words = 3}, 8));
    EXPECT_TRUE(malformed({.bytes = 16, .words = 3}, 15));
    EXPECT_TRUE(malformed({.bytes = 16, .words = 4}, 16));
    EXPECT_TRUE(malformed({.bytes = 0, .words = 1}, 16));
    const std::array<std::byte, 7> too_short{};
    FrameReader reader(too_short);
    EXPECT_FALSE(reader.next());
    EXPECT_TRUE(reader.malformed());
    EXPECT_FALSE(read_plain<BatchHeader>(too_short));
}

} // namespace
} // namespace sidelight::unit
