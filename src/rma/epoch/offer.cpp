// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/offer.hpp"

#include <algorithm>

#include "base/bytes.hpp"

namespace sidelight::rma {

std::size_t OfferedPiece::operand_bytes() const noexcept
{
    constexpr std::size_t widest = 16;
    const std::size_t counted = std::min<std::size_t>(bytes, Offer::most_operands + 1);
    return kind == OperationKind::accumulate ? round_up(counted, widest) : 0;
}

std::size_t Offer::bytes() const noexcept
{
    std::size_t sum = 0;
    for (const OfferedPiece& piece : all()) {
        sum += std::min<std::size_t>(piece.bytes, most_bytes + 1);
    }
    return sum;
}

std::size_t Offer::operand_bytes() const noexcept
{
    std::size_t sum = 0;
    for (const OfferedPiece& piece : all()) {
        sum += piece.operand_bytes();
    }
    return sum;
}

} // namespace sidelight::rma
