// SPDX-License-Identifier: BSD-3-Clause
#include "rma/channel/fragments.hpp"

#include <algorithm>
#include <cstring>

#include "rma/channel/wire.hpp"

namespace sidelight::rma {

namespace {

/// Elements of which a message brings one, whether the program's own have their holes or not.
bool has_holes(datatype::Basic basic) noexcept
{
    const datatype::BasicShape shape = datatype::shape_of(basic);
    return shape.size != shape.extent;
}

} // namespace

bool carries_data(const Operation& operation) noexcept
{
    return operation.kind == OperationKind::put ||
           (operation.kind == OperationKind::accumulate && operation.reduce != ReduceOp::no_op);
}

bool is_zero_copy(const Operation& operation, std::size_t bytes) noexcept
{
    return operation.kind == OperationKind::put && bytes >= zero_copy_bytes;
}

bool is_one_fragment(const Operation& operation) noexcept
{
    if (!carries_data(operation) || returned_to(operation) != nullptr) {
        return false;
    }
    const std::size_t bytes = data_bytes(operation);
    const datatype::Basic basic = operation.layout->basic;
    const bool one_by_one = operation.kind == OperationKind::accumulate && has_holes(basic) &&
                            bytes != datatype::shape_of(basic).size;
    return bytes != 0 && bytes <= fragment_bytes && !one_by_one && operation.layout->contiguous &&
           operation.origin.layout->contiguous && operation.origin.bytes() == bytes;
}

std::size_t next_fragment(const Flight& flight) noexcept
{
    const Operation& operation = flight.op->operation;
    const std::size_t stretch = flight.target.piece().length;
    if (operation.kind == OperationKind::accumulate) {
        const datatype::Basic basic = operation.layout->basic;
        return has_holes(basic) ? datatype::shape_of(basic).size
                                : std::min(stretch, fragment_bytes);
    }
    const std::size_t both = std::min(stretch, flight.data.piece().length);
    return both >= zero_copy_bytes && !flight.copied ? both : std::min(stretch, fragment_bytes);
}

bool may_send(const Flight& flight) noexcept
{
    const Channel& target = *flight.channel;
    return target.zero_copies_sent - target.zero_copies_placed < Series::span ||
           !is_zero_copy(flight.op->operation, next_fragment(flight));
}

void gather(datatype::Cursor& from, std::byte* to, std::size_t bytes) noexcept
{
    while (bytes != 0 && !from.at_end()) {
        const datatype::Piece stretch = from.piece();
        const std::size_t length = std::min(bytes, stretch.length);
        std::memcpy(to, stretch.address, length);
        from.advance(length);
        to += length;
        bytes -= length;
    }
}

void scatter(datatype::Cursor& to, std::span<const std::byte> from) noexcept
{
    while (!from.empty() && !to.at_end()) {
        const datatype::Piece stretch = to.piece();
        const std::size_t length = std::min(from.size(), stretch.length);
        std::memcpy(stretch.address, from.data(), length);
        to.advance(length);
        from = from.subspan(length);
    }
}

} // namespace sidelight::rma
