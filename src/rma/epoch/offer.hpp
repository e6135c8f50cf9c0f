// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rma/offer_rules.hpp"
#include "rma/operation.hpp"

/// What a process offers to others of its node. See docs/design/offers.md.
namespace sidelight::rma {

/// Bytes of the origin and of a target's memory, and what becomes of them.
struct OfferedPiece {
    std::uint64_t origin = 0; ///< an address there
    std::uint64_t target = 0; ///< an offset in its memory
    std::uint64_t bytes = 0;
    std::int32_t rank = 0;                   ///< of the target
    OperationKind kind = OperationKind::put; ///< put, get, or accumulate without a result
    ReduceOp reduce = ReduceOp::no_op;       ///< accumulate
    datatype::Basic basic = datatype::Basic::none;

    /// Room for what it accumulates where operands lie one behind the other, each aligned.
    [[nodiscard]] std::size_t operand_bytes() const noexcept;
};

/// All that is recorded in an offered part of an epoch. In the origin's own memory, where others
/// read it by the kernel, and unchanged while anybody may.
struct Offer {
    static constexpr std::size_t most_pieces = 16;
    /// Bytes that it accumulates in all: who performs it has them all before it changes anything.
    static constexpr std::size_t most_operands = std::size_t{4} << 20;
    /// In all, and of all that are performed in one sweep but the last: so long the other threads
    /// of who performs it wait for the engine.
    static constexpr std::size_t most_bytes = std::size_t{32} << 20;

    std::uint64_t window = 0;
    std::uint64_t word = 0; ///< as it is offered
    std::int32_t origin = 0;
    std::uint32_t count = 0; ///< of pieces
    std::array<OfferedPiece, most_pieces> pieces{};
    unsigned looks = 0; ///< of its origin, while another process performs it
    Offer* next = nullptr;

    [[nodiscard]] std::span<const OfferedPiece> all() const noexcept
    {
        return std::span(pieces).first(count);
    }
    // Of all pieces; above the most that may be offered, where a record was never an offer.
    [[nodiscard]] std::size_t bytes() const noexcept;
    [[nodiscard]] std::size_t operand_bytes() const noexcept;
};

/// What an OfferWord says: what becomes of the offer, what it is, and its number or, while it is
/// taken, the number on the node of the member that has it.
namespace offer_word {

using rules::OfferKind;
using rules::OfferState;

inline constexpr unsigned state_bits = 2;
inline constexpr unsigned kind_bits = 2;
inline constexpr std::uint64_t numbers = ~std::uint64_t{0} >> (state_bits + kind_bits);

/// Of a sum of places the lowest bits do: two that are compared differ by little.
constexpr std::uint64_t pack(std::uint64_t number, OfferKind kind, OfferState state) noexcept
{
    return (number << kind_bits | static_cast<std::uint64_t>(kind)) << state_bits |
           static_cast<std::uint64_t>(state);
}

constexpr OfferState state_of(std::uint64_t word) noexcept
{
    return static_cast<OfferState>(word & ((1U << state_bits) - 1));
}

constexpr OfferKind kind_of(std::uint64_t word) noexcept
{
    return static_cast<OfferKind>(word >> state_bits & ((1U << kind_bits) - 1));
}

constexpr std::uint64_t number_of(std::uint64_t word) noexcept
{
    return word >> (state_bits + kind_bits);
}

constexpr std::uint64_t with_state(std::uint64_t word, OfferState state) noexcept
{
    return pack(number_of(word), kind_of(word), state);
}

} // namespace offer_word

} // namespace sidelight::rma
