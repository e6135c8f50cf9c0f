// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/shared_memory.hpp"

/// How messages lie in a batch, which is what travels as one active message. No UCX in it.
/// docs/design/network.md has the picture.
namespace sidelight::fabric::ucx {

/// Begins every batch.
struct BatchHeader {
    std::uint64_t sender = 0;   ///< identity
    std::uint64_t sequence = 0; ///< batches sent to this receiver before
};

/// Begins every message in a batch; the next one begins at a multiple of 8 after it.
struct FrameHeader {
    std::uint64_t bytes = 0;
};

/// Comes before the header of a long message.
struct LongHeader {
    std::uint64_t sender = 0; ///< identity
    std::uint64_t after = 0;  ///< batches sent to this receiver before
};

inline constexpr std::size_t frame_alignment = 8;

/// What a message of so many bytes takes in a batch.
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

    [[nodiscard]] bool fits(std::size_t message) const noexcept
    {
        return message <= room_.size() && frame_bytes(message) <= room_.size() - used_;
    }

    /// Appends a message, in two parts, that fits.
    void append(std::span<const std::byte> first, std::span<const std::byte> second) noexcept
    {
        const FrameHeader header{.bytes = first.size() + second.size()};
        std::byte* place = room_.data() + used_;
        std::memcpy(place, &header, sizeof header);
        place += sizeof header;
        copy(place, first);
        copy(place + first.size(), second);
        used_ += frame_bytes(header.bytes);
    }

    /// Writes the header; nothing may be appended any more.
    void seal(const BatchHeader& header) noexcept
    {
        std::memcpy(room_.data(), &header, sizeof header);
    }

    /// The batch, once it is sealed.
    [[nodiscard]] std::span<const std::byte> sealed() const noexcept { return room_.first(used_); }

private:
    static void copy(std::byte* place, std::span<const std::byte> bytes) noexcept
    {
        if (!bytes.empty()) { // an empty span may have no address
            std::memcpy(place, bytes.data(), bytes.size());
        }
    }

    std::span<std::byte> room_;
    std::size_t used_;
};

/// Takes apart what came after a BatchHeader, whatever it is.
class FrameReader {
public:
    explicit FrameReader(std::span<const std::byte> frames) noexcept : left_(frames) {}

    /// The next message. Empty: there is none, and `malformed` says whether that is the end.
    [[nodiscard]] std::optional<std::span<const std::byte>> next() noexcept
    {
        const auto header = read_plain<FrameHeader>(left_);
        if (!header || header->bytes > left_.size() - sizeof(FrameHeader) ||
            frame_bytes(header->bytes) > left_.size()) {
            return std::nullopt;
        }
        const auto message = left_.subspan(sizeof(FrameHeader), header->bytes);
        left_ = left_.subspan(frame_bytes(header->bytes));
        return message;
    }

    [[nodiscard]] bool malformed() const noexcept { return !left_.empty(); }

private:
    std::span<const std::byte> left_;
};

} // namespace sidelight::fabric::ucx
