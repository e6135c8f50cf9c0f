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

TEST(Frames, WhatIsAppendedComesOutAgain)
{
    std::mt19937 random(1);
    for (int round = 0; round < 300; ++round) {
        alignas(frame_alignment) std::array<std::byte, 4096> room;
        FrameWriter writer(room);
        std::vector<std::vector<std::byte>> messages;
        for (;;) {
            const auto first = some_bytes(random, random() % 100);
            const auto second = some_bytes(random, random() % 300);
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
    alignas(frame_alignment) std::array<std::byte, 64> room;
    FrameWriter writer(room);
    constexpr std::size_t rest = room.size() - sizeof(BatchHeader) - sizeof(FrameHeader);
    EXPECT_TRUE(writer.fits(rest));
    EXPECT_FALSE(writer.fits(rest + 1));
    EXPECT_FALSE(writer.fits(~std::size_t{0}));
    EXPECT_FALSE(writer.fits(~std::size_t{0} - 7));
    const std::vector<std::byte> message(rest);
    writer.append(message, {});
    EXPECT_FALSE(writer.fits(0));
    EXPECT_EQ(writer.sealed().size(), room.size());
}

/// Reads all frames of bytes that lie at the very end of their memory, so that the sanitizers see
/// the first one beyond; whatever comes out must lie inside.
std::size_t read_all(const std::vector<std::byte>& bytes)
{
    const auto exact = std::make_unique<std::byte[]>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), exact.get());
    FrameReader reader({exact.get(), bytes.size()});
    std::size_t messages = 0;
    unsigned sum = 0;
    while (const auto message = reader.next()) {
        EXPECT_GE(message->data(), exact.get());
        EXPECT_LE(message->data() + message->size(), exact.get() + bytes.size());
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
    constexpr std::array<std::uint64_t, 8> lengths{
        0, 1, 7, 8, ~std::uint64_t{0}, ~std::uint64_t{0} - 7, std::uint64_t{1} << 63, 1U << 31};
    std::size_t messages = 0;
    for (int round = 0; round < 100000; ++round) {
        std::vector<std::byte> bytes = some_bytes(random, random() % 80);
        // Lengths that nearly fit, in places where a length may be.
        for (std::size_t place = 0; place + sizeof(FrameHeader) <= bytes.size(); place += 8) {
            const unsigned choice = random() % 4;
            const std::uint64_t left = bytes.size() - place - sizeof(FrameHeader);
            const FrameHeader header{.bytes = choice == 0   ? lengths[random() % lengths.size()]
                                              : choice == 1 ? left + random() % 3 - 1
                                                            : random() % 24};
            std::memcpy(bytes.data() + place, &header, sizeof header);
        }
        messages += read_all(bytes);
    }
    EXPECT_GT(messages, 1000U) << "the bytes are too far from frames to show anything";
}

TEST(Frames, ALengthBeyondTheEndIsMalformed)
{
    for (const std::uint64_t bytes : {std::uint64_t{9}, ~std::uint64_t{0}, ~std::uint64_t{0} - 6}) {
        std::array<std::byte, sizeof(FrameHeader) + 8> frame{};
        std::memcpy(frame.data(), &bytes, sizeof bytes);
        FrameReader reader(frame);
        EXPECT_FALSE(reader.next());
        EXPECT_TRUE(reader.malformed());
    }
    const std::array<std::byte, 7> too_short{};
    FrameReader reader(too_short);
    EXPECT_FALSE(reader.next());
    EXPECT_TRUE(reader.malformed());
    EXPECT_FALSE(read_plain<BatchHeader>(too_short));
}

} // namespace
} // namespace sidelight::unit
