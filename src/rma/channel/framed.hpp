// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "rma/channel/message_kind.hpp"

/// What the messages between the engines of two members have in common: each is a header, the body
/// that its kind has (wire.hpp), and a payload.
namespace sidelight::rma {

/// Bytes that say nothing. They stand where a structure would have padding, which nobody writes:
/// what lay in memory before would travel to others, and count as news in a batch.
template <std::size_t count>
struct Unused {
    std::array<std::uint8_t, count> bytes{};
};

/// The first bytes of every message. Same layout everywhere: the hosts of a job are alike. The
/// sizes of header and bodies keep a payload aligned for every basic type.
struct alignas(16) MessageHeader {
    MessageKind kind = MessageKind::put;
    Unused<3> unused{};
    std::uint32_t origin = 0; ///< rank of the sender in the window
    std::uint64_t window = 0; ///< id
};

/// Of a kind that needs none.
struct alignas(16) NoBody {};

/// Whether every byte of it is part of a member.
template <class Plain>
inline constexpr bool is_all_written = std::has_unique_object_representations_v<Plain>;
template <>
inline constexpr bool is_all_written<NoBody> = true;

/// Bytes of the body as it travels.
template <class Body>
inline constexpr std::size_t body_bytes = sizeof(Body);
template <>
inline constexpr std::size_t body_bytes<NoBody> = 0;

/// Header and body of one message, as they leave.
template <class Body>
struct Framed {
    static_assert(is_all_written<MessageHeader> && is_all_written<Body>);

    MessageHeader header{};
    Body body;

    [[nodiscard]] std::span<const std::byte> bytes() const noexcept
    {
        return std::as_bytes(std::span(this, 1)).first(sizeof header + body_bytes<Body>);
    }
};

/// A message that has come: all of it but the header.
struct Message {
    MessageHeader header;
    std::span<const std::byte> rest; ///< body and payload

    /// The body, for whoever has made sure that it is there.
    template <class Body>
    [[nodiscard]] Body body() const noexcept
    {
        Body copy;
        std::memcpy(&copy, rest.data(), sizeof copy);
        return copy;
    }
};

} // namespace sidelight::rma
