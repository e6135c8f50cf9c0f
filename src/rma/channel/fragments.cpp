// SPDX-License-Identifier: BSD-3-Clause
#include "rma/channel/fragments.hpp"

#include <algorithm>
#include <cstring>

#include "base/bytes.hpp"
#include "rma/channel/wire.hpp"

namespace sidelight::rma {

namespace {

std::byte* at(const datatype::Blocks& blocks, std::size_t index) noexcept
{
    return displaced(blocks.address, static_cast<std::ptrdiff_t>(index) * blocks.stride);
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
    const datatype::BasicShape shape = datatype::shape_of(operation.layout->basic);
    const bool one_by_one =
        operation.kind == OperationKind::accumulate && shape.has_holes() && bytes != shape.size;
    return bytes != 0 && bytes <= fragment_bytes && !one_by_one && operation.layout->contiguous &&
           operation.origin.layout->contiguous && operation.origin.bytes() == bytes;
}

std::size_t next_fragment(const Flight& flight) noexcept
{
    const Operation& operation = flight.op->operation;
    const std::size_t stretch = flight.target.piece().length;
    if (operation.kind == OperationKind::accumulate) {
        // Elements of which a message brings one, whether the program's have their holes or not.
        const datatype::BasicShape shape = datatype::shape_of(operation.layout->basic);
        return shape.has_holes() ? shape.size : std::min(stretch, fragment_bytes);
    }
    const std::size_t both = std::min(stretch, flight.data.piece().length);
    return both >= zero_copy_bytes && !flight.copied ? both : std::min(stretch, fragment_bytes);
}

Scattered next_blocks(const Flight& flight, std::span<std::byte, scattered_bytes> list) noexcept
{
    const Operation& operation = flight.op->operation;
    const std::size_t first = flight.target.piece().length;
    if (first > scattered_block_bytes || flight.position + first == data_bytes(operation) ||
        (operation.kind == OperationKind::accumulate &&
         datatype::shape_of(operation.layout->basic).has_holes())) {
        return {};
    }
    Scattered found;
    datatype::Cursor at = flight.target;
    for (std::size_t left = list.size(); !at.at_end();) {
        const datatype::Blocks blocks = at.blocks();
        if (blocks.length > scattered_block_bytes ||
            left < sizeof(ScatteredBlocks) + blocks.length) {
            break;
        }
        left -= sizeof(ScatteredBlocks);
        const std::size_t count = std::min(blocks.count, left / blocks.length);
        const ScatteredBlocks entry{.address = reinterpret_cast<std::uintptr_t>(blocks.address),
                                    .stride = blocks.stride,
                                    .length = static_cast<std::uint32_t>(blocks.length),
                                    .count = static_cast<std::uint32_t>(count)};
        std::memcpy(&list[found.entries * sizeof entry], &entry, sizeof entry);
        ++found.entries;
        found.bytes += count * blocks.length;
        left -= count * blocks.length;
        at.advance(count * blocks.length);
    }
    return found.bytes > first ? found : Scattered{};
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
        const datatype::Blocks blocks = from.blocks();
        const std::size_t whole = std::min(blocks.count, bytes / blocks.length);
        for (std::size_t block = 0; block < whole; ++block, to += blocks.length) {
            std::memcpy(to, at(blocks, block), blocks.length);
        }
        const std::size_t part = whole == 0 ? bytes : 0;
        std::memcpy(to, blocks.address, part);
        from.advance(whole * blocks.length + part);
        to += part;
        bytes -= whole * blocks.length + part;
    }
}

void scatter(datatype::Cursor& to, std::span<const std::byte> from) noexcept
{
    while (!from.empty() && !to.at_end()) {
        const datatype::Blocks blocks = to.blocks();
        const std::size_t whole = std::min(blocks.count, from.size() / blocks.length);
        for (std::size_t block = 0; block < whole; ++block) {
            std::memcpy(at(blocks, block), &from[block * blocks.length], blocks.length);
        }
        const std::size_t part = whole == 0 ? from.size() : 0;
        std::memcpy(blocks.address, from.data(), part);
        const std::size_t moved = whole * blocks.length + part;
        to.advance(moved);
        from = from.subspan(moved);
    }
}

} // namespace sidelight::rma
