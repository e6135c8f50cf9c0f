// SPDX-License-Identifier: BSD-3-Clause
#include "unit/type_map.hpp"

#include <algorithm>
#include <utility>

#include "datatype/basic_layout.hpp"

namespace sidelight::unit {
namespace {

using datatype::Basic;
using datatype::LayoutBuilder;

constexpr std::size_t most_bytes = 3000;
constexpr std::ptrdiff_t farthest = 100'000;

/// A type on its way through the constructors: the plain map, and the builder under test, driven as
/// `datatype/mpi/flatten.cpp` drives it.
struct Draft {
    TypeMap map;
    LayoutBuilder builder;
};

Draft element_of(Basic basic)
{
    Draft draft;
    const auto shape = datatype::shape_of(basic);
    for (std::ptrdiff_t byte = 0; byte < shape.extent; ++byte) {
        const bool hole = basic == Basic::i16_i32 ? byte == 2 || byte == 3 : byte >= shape.size;
        if (!hole) {
            draft.map.bytes.push_back(byte);
        }
    }
    draft.map.elements = {0};
    draft.map.basic = basic;
    draft.map.extent = shape.extent;
    draft.builder.append(datatype::basic_layout(basic), 0);
    return draft;
}

struct Block {
    std::size_t length;
    std::ptrdiff_t displacement;
};

void append_block(Draft& draft, const Draft& part, const Block& block)
{
    for (std::size_t i = 0; i < block.length; ++i) {
        const auto distance = static_cast<std::ptrdiff_t>(i) * part.map.extent;
        draft.map.append(part.map, block.displacement + distance);
    }
    LayoutBuilder copies = part.builder;
    copies.replicate(block.length, part.map.extent);
    draft.builder.append(copies, block.displacement);
}

std::ptrdiff_t draw_distance(Random& random, std::ptrdiff_t extent)
{
    switch (random.below(4)) {
    case 0:
        return extent;
    case 1:
        return random.between(-3, 4) * extent;
    case 2:
        return random.between(-40, 40);
    default:
        return 8 * random.between(-10, 20);
    }
}

Draft contiguous(Random& random, const Draft& part)
{
    Draft draft;
    const std::size_t count = random.chance(20) ? random.below(100) : random.below(5);
    append_block(draft, part, {count, 0});
    return draft;
}

Draft vector(Random& random, const Draft& part)
{
    Draft draft;
    const std::size_t count = random.below(5);
    const std::size_t length = random.below(4);
    const std::ptrdiff_t stride = draw_distance(random, part.map.extent);
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; j < length; ++j) {
            draft.map.append(part.map, static_cast<std::ptrdiff_t>(i) * stride +
                                           static_cast<std::ptrdiff_t>(j) * part.map.extent);
        }
    }
    draft.builder = part.builder;
    draft.builder.replicate(length, part.map.extent);
    draft.builder.replicate(count, stride);
    return draft;
}

Draft indexed(Random& random, const Draft& part)
{
    Draft draft;
    std::ptrdiff_t end = 0;
    for (std::size_t blocks = random.below(5); blocks > 0; --blocks) {
        const Block block{random.below(4), end + draw_distance(random, part.map.extent)};
        append_block(draft, part, block);
        end = block.displacement + static_cast<std::ptrdiff_t>(block.length) * part.map.extent;
    }
    return draft;
}

Draft subarray(Random& random, const Draft& part)
{
    Draft draft = part;
    std::ptrdiff_t stride = part.map.extent;
    for (int dimensions = random.between(1, 3); dimensions > 0; --dimensions) {
        const int start = random.between(0, 2);
        const int length = random.between(1, 3);
        Draft next;
        for (int i = start; i < start + length; ++i) {
            next.map.append(draft.map, i * stride);
        }
        draft.builder.replicate(static_cast<std::size_t>(length), stride);
        next.builder.append(draft.builder, start * stride);
        draft = std::move(next);
        stride *= start + length + random.between(0, 2);
    }
    return draft;
}

Draft resized(Random& random, Draft part)
{
    part.map.lb = random.between(-16, 16);
    switch (random.below(3)) {
    case 0: // as tight as it gets
        part.map.extent = part.map.last() - part.map.first();
        break;
    case 1:
        part.map.extent = 8 * random.between(-6, 12);
        break;
    default:
        part.map.extent += random.between(0, 24);
    }
    return part;
}

Draft draw(Random& random, Basic basic, unsigned depth);

Draft structure(Random& random, Basic basic, unsigned depth)
{
    Draft draft;
    std::ptrdiff_t end = 0;
    for (std::size_t fields = random.below(4); fields > 0; --fields) {
        const Draft part = draw(random, basic, depth - 1);
        const Block block{random.below(3), end + 4 * random.between(-1, 4)};
        append_block(draft, part, block);
        end = block.displacement + part.map.last();
    }
    return draft;
}

Draft draw(Random& random, Basic basic, unsigned depth)
{
    if (depth == 0) {
        return element_of(basic == Basic::none ? draw_basic(random) : basic);
    }
    if (random.chance(25)) {
        return structure(random, basic, depth);
    }
    Draft part = draw(random, basic, depth - 1);
    switch (random.below(5)) {
    case 0:
        return contiguous(random, part);
    case 1:
        return vector(random, part);
    case 2:
        return indexed(random, part);
    case 3:
        return subarray(random, part);
    default:
        return resized(random, std::move(part));
    }
}

bool small_enough(const TypeMap& map)
{
    return map.bytes.size() <= most_bytes && std::max(-map.first(), map.last()) <= farthest &&
           std::max(map.extent, -map.extent) <= farthest;
}

} // namespace

void TypeMap::append(const TypeMap& part, std::ptrdiff_t offset)
{
    for (const std::ptrdiff_t byte : part.bytes) {
        bytes.push_back(byte + offset);
    }
    for (const std::ptrdiff_t element : part.elements) {
        elements.push_back(element + offset);
    }
    if (!part.bytes.empty()) {
        const bool first_data = bytes.size() == part.bytes.size();
        basic = first_data || basic == part.basic ? part.basic : Basic::none;
    }
    const std::ptrdiff_t low = part.lb + offset;
    const std::ptrdiff_t high = low + part.extent;
    const std::ptrdiff_t ub = parts_ == 0 ? high : std::max(lb + extent, high);
    lb = parts_ == 0 ? low : std::min(lb, low);
    extent = ub - lb;
    ++parts_;
}

TypeMap TypeMap::times(std::size_t count) const
{
    TypeMap all;
    for (std::size_t i = 0; i < count; ++i) {
        all.append(*this, static_cast<std::ptrdiff_t>(i) * extent);
    }
    return all;
}

std::ptrdiff_t TypeMap::first() const
{
    return bytes.empty() ? 0 : *std::min_element(bytes.begin(), bytes.end());
}

std::ptrdiff_t TypeMap::last() const
{
    return bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end()) + 1;
}

bool TypeMap::overlaps() const
{
    std::vector<std::ptrdiff_t> sorted = bytes;
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

Type draw_type(Random& random, Basic basic)
{
    for (;;) {
        Draft draft = draw(random, basic, static_cast<unsigned>(random.below(7)));
        if (small_enough(draft.map)) {
            datatype::LayoutPointer layout = draft.builder.finish(draft.map.lb, draft.map.extent);
            return {std::move(draft.map), std::move(layout)};
        }
    }
}

Type draw_target_type(Random& random, Basic basic, std::size_t count)
{
    for (;;) {
        Type type = draw_type(random, basic);
        if (!type.map.times(count).overlaps()) {
            return type;
        }
    }
}

Basic draw_basic(Random& random)
{
    return static_cast<Basic>(1 + random.below(datatype::basic_count - 1));
}

Arena::Arena(const TypeMap& map, std::size_t count, std::size_t misalignment, Random& random)
{
    constexpr std::ptrdiff_t margin = 64;
    const TypeMap all = map.times(count);
    const std::ptrdiff_t before = margin + std::max<std::ptrdiff_t>(-all.first(), 0);
    const std::ptrdiff_t after = margin + std::max<std::ptrdiff_t>(all.last(), 0);
    zero_ = (before + 15) / 16 * 16 + static_cast<std::ptrdiff_t>(misalignment);
    bytes_.resize(static_cast<std::size_t>(zero_ + after));
    for (std::byte& byte : bytes_) {
        byte = static_cast<std::byte>(random.next());
    }
}

} // namespace sidelight::unit
