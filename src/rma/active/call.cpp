// SPDX-License-Identifier: BSD-3-Clause
#include "rma/active/call.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/bytes.hpp"
#include "datatype/cursor.hpp"
#include "rma/active/ring.hpp"

namespace sidelight::rma {

using datatype::Buffer;
using datatype::Layout;

namespace {

/// The segments from `first` on, as one row of elements of the origin's.
Buffer row_from(const Buffer& segment, std::uint64_t first, std::uint64_t segments) noexcept
{
    const auto skipped = static_cast<std::ptrdiff_t>(first * segment.count);
    // The address of a datatype with absolute addresses is null.
    const auto address = reinterpret_cast<std::uintptr_t>(segment.address) +
                         static_cast<std::uintptr_t>(skipped * segment.layout->extent);
    return {reinterpret_cast<void*>(address), segment.layout,
            static_cast<std::size_t>(segments) * segment.count};
}

Buffer row_in(const ActiveSide& side, const ActiveImage& image, std::uint64_t segments,
              std::byte* memory) noexcept
{
    return {memory + image.start, side.layout, static_cast<std::size_t>(segments) * side.count};
}

bool has_holes(const ActiveSide& side, const ActiveImage& image, std::uint64_t segments) noexcept
{
    return side.layout->size * side.count * segments != image.bytes;
}

} // namespace

std::size_t active_alignment_of(const Layout* layout) noexcept
{
    if (layout == nullptr || layout->size == 0) {
        return 1;
    }
    const std::size_t unit = layout->basic != datatype::Basic::none
                                 ? layout->basic_size
                                 : static_cast<std::size_t>(std::abs(layout->extent));
    const std::size_t low = unit & (~unit + 1);
    return low == 0 ? active_granule : std::min(low, active_granule);
}

ActiveImage image_of(const ActiveSide& side, std::uint64_t segments) noexcept
{
    if (side.layout == nullptr || side.count == 0 || segments == 0) {
        return {};
    }
    std::size_t elements = 0;
    const bool too_many = __builtin_mul_overflow(side.count, segments, &elements);
    const datatype::Extent extent = datatype::touched(*side.layout, too_many ? 0 : elements);
    const auto alignment = static_cast<std::ptrdiff_t>(active_alignment_of(side.layout));
    const std::ptrdiff_t first =
        extent.first == extent.last ? extent.first : extent.first & -alignment;
    return {.bytes = static_cast<std::size_t>(extent.last - first),
            .start = -first,
            .overflow = too_many || extent.overflow};
}

ActiveRoom room_of(const ActiveCall& call, std::uint64_t segments) noexcept
{
    ActiveRoom room{.input = image_of(call.input, segments),
                    .output = image_of(call.output, segments)};
    room.overflow = room.input.overflow || room.output.overflow;
    const std::size_t alignment = active_alignment_of(call.output.layout);
    room.output_at =
        room.output.bytes == 0 ? room.input.bytes : round_up(room.input.bytes, alignment);
    room.overflow =
        __builtin_add_overflow(room.output_at, room.output.bytes, &room.bytes) || room.overflow;
    return room;
}

std::uint64_t segments_in(const ActiveCall& call, std::size_t bytes, std::uint64_t most) noexcept
{
    const std::size_t one = room_of(call, 1).bytes;
    if (one > bytes || most <= 1) {
        return one > bytes ? 0 : most;
    }
    const ActiveRoom two = room_of(call, 2);
    const std::size_t step = two.overflow ? bytes + 1 : std::max<std::size_t>(two.bytes - one, 1);
    std::uint64_t found = std::min<std::uint64_t>(most, 1 + (bytes - one) / step);
    while (found > 1 && (room_of(call, found).overflow || room_of(call, found).bytes > bytes)) {
        --found; // what alignment takes
    }
    return found;
}

void fill_image(const Buffer& segment, std::uint64_t first, std::uint64_t segments,
                const ActiveSide& side, const ActiveImage& image, std::byte* memory) noexcept
{
    if (image.bytes == 0) {
        return;
    }
    if (has_holes(side, image, segments)) {
        std::memset(memory, 0, image.bytes);
    }
    datatype::copy(row_in(side, image, segments, memory), row_from(segment, first, segments));
}

void take_image(const Buffer& segment, std::uint64_t first, std::uint64_t segments,
                const ActiveSide& side, const ActiveImage& image, std::byte* memory) noexcept
{
    if (image.bytes != 0) {
        datatype::copy(row_from(segment, first, segments), row_in(side, image, segments, memory));
    }
}

} // namespace sidelight::rma
