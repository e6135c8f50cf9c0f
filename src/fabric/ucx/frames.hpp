// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/bytes.hpp"
#include "fabric/ucx/frame_words.hpp"

/// How messages lie in a batch, which is what travels as one active message. No UCX in it.
/// docs/design/network.md has the picture.
namespace sidelight::fabric::ucx {

/// Begins every batch.
struct BatchHeader {
    std::uint64_t sender = 0;   ///< identity
    std::uint64_t sequence = 0; ///< batches sent to this receiver before
};

/// Begins every message in a batch; the next one begins at a multiple of 8 after it. A short
/// message lies there without those of its words, of 8 bytes, that are as the latest short one
/// before it in the batch left them, zero at first: most fields of its header are.
struct FrameHeader {
    std::uint32_t bytes = 0; ///< of the message
    std::uint32_t words = 0; ///< of a short one: bit i says whether word i is there
};

/// Comes before the header of a zero-copy message.
struct ZeroCopyHeader {
    std::uint64_t sender = 0; ///< identity
    std::uint64_t after = 0;  ///< batches sent to this receiver before
};

inline constexpr std::size_t frame_alignment = 8;

/// What a message of so many bytes takes in a batch at most.
constexpr std::size_t frame_bytes(std::size_t message) noexcept
{
    return sizeof(FrameHeader) + round_up(message, frame_alignment);
}

/// Reads a plain structure at the beginning of `bytes`, wherever that is. Empty: it is too short.
template <typename Plain>
[[nodiscard]] std::optional<Plain> read_plain(std::span<const std::byte> bytes) noexcept
{
    if (bytes.size() < sizeof(Plain)) {
        return std::nullopt;
    }
    Plain plain;
    std::memcpy(&plain, bytes.data(), sizeof plain);
    return plain;
}

/// Fills a batch. Keeps no memory of its own.
class FrameWriter {
public:
    /// `room` is aligned to `frame_alignment` and holds more than a BatchHeader.
    explicit FrameWriter(std::span<std::byte> room) noexcept
        : room_(room), used_(sizeof(BatchHeader))
    {}

    /// The next message is the first one.
    void clear() noexcept
    {
        used_ = sizeof(BatchHeader);
        latest_.clear();
    }

    [[nodiscard]] bool fits(std::size_t message) const noexcept
    {
        return message <= room_.size() && frame_bytes(message) <= room_.size() - used_;
    }

    /// Appends a message, in two parts, that fits.
    void append(std::span<const std::byte> first, std::span<const std::byte> second) noexcept
    {
        FrameHeader header{.bytes = static_cast<std::uint32_t>(first.size() + second.size())};
        std::byte* frame = room_.data() + used_;
        std::byte* place = frame + sizeof header;
        if (header.bytes > short_bytes) {
            copy(place, first);
            copy(place + first.size(), second);
            place += round_up(header.bytes, frame_alignment);
        } else {
            std::array<std::uint64_t, FrameWords::most> words;
            auto* bytes = reinterpret_cast<std::byte*>(words.data());
            copy(bytes, first);
            copy(bytes + first.size(), second);
            place = pack(words.data(), header, place);
        }
        std::memcpy(frame, &header, sizeof header);
        used_ = static_cast<std::size_t>(place - room_.data());
    }

    /// Writes the header; nothing may be appended any more.
    void seal(const BatchHeader& header) noexcept
    {
        std::memcpy(room_.data(), &header, sizeof header);
    }

    /// The batch, once it is sealed.
    [[nodiscard]] std::span<const std::byte> sealed() const noexcept { return room_.first(used_); }

    /// What comes after its header.
    [[nodiscard]] std::span<const std::byte> frames() const noexcept
    {
        return sealed().subspan(sizeof(BatchHeader));
    }

private:
    /// Writes the words that differ from those before, says so in the header, and answers where
    /// they end. What comes after the message in the last word is made zero.
    std::byte* pack(std::uint64_t* words, FrameHeader& header, std::byte* place) noexcept
    {
        const std::size_t whole = header.bytes / frame_alignment;
        const std::size_t rest = header.bytes % frame_alignment;
        if (rest != 0) {
            words[whole] &= ~std::uint64_t{0} >> 8 * (frame_alignment - rest);
        }
        const std::size_t count = whole + (rest != 0 ? 1 : 0);
        return latest_.pack(words, count, header.words, place);
    }

    static void copy(std::byte* place, std::span<const std::byte> bytes) noexcept
    {
        if (!bytes.empty()) { // an empty span may have no address
            std::memcpy(place, bytes.data(), bytes.size());
        }
    }

    std::span<std::byte> room_;
    std::size_t used_;
    FrameWords latest_;
};

/// Takes apart what came after a BatchHeader, whatever it is.
class FrameReader {
public:
    explicit FrameReader(std::span<const std::byte> frames) noexcept : left_(frames) {}

    /// The next message, which is there until the one after it is asked for. Empty: there is none,
    /// and `malformed` says whether that is the end.
    [[nodiscard]] std::optional<std::span<const std::byte>> next() noexcept
    {
        const auto header = read_plain<FrameHeader>(left_);
        if (!header) {
            return std::nullopt;
        }
        if (header->bytes <= short_bytes) {
            return unpack(*header);
        }
        if (header->bytes > left_.size() - sizeof(FrameHeader) ||
            frame_bytes(header->bytes) > left_.size()) {
            return std::nullopt;
        }
        const auto message = left_.subspan(sizeof(FrameHeader), header->bytes);
        left_ = left_.subspan(frame_bytes(header->bytes));
        return message;
    }

    [[nodiscard]] bool malformed() const noexcept { return !left_.empty(); }

private:
    std::optional<std::span<const std::byte>> unpack(const FrameHeader& header) noexcept
    {
        const std::size_t count = round_up(header.bytes, frame_alignment) / frame_alignment;
        if (static_cast<std::size_t>(std::bit_width(header.words)) > count) {
            return std::nullopt;
        }
        std::uint64_t* words = latest_.first(count);
        std::size_t at = sizeof header;
        for (std::uint32_t there = header.words; there != 0; there &= there - 1) {
            if (at == left_.size() / frame_alignment * frame_alignment) {
                return std::nullopt;
            }
            std::memcpy(words + std::countr_zero(there), left_.data() + at, sizeof *words);
            at += sizeof *words;
        }
        left_ = left_.subspan(at);
        return std::as_bytes(std::span(words, count)).first(header.bytes);
    }

    std::span<const std::byte> left_;
    FrameWords latest_;
};

} // namespace sidelight::fabric::ucx
