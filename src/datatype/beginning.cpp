// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/beginning.hpp"

#include <algorithm>
#include <span>

namespace sidelight::datatype {

namespace {

/// Appends the first bytes of a run's data, at most all of them, and answers how many.
std::size_t append_beginning(LayoutBuilder& all, const Run& run, Basic basic, std::ptrdiff_t shift,
                             std::size_t bytes)
{
    const std::size_t blocks = std::min(run.count, bytes / run.length);
    if (blocks != 0) {
        LayoutBuilder whole;
        whole.append_block(run.offset, run.length, basic);
        whole.replicate(blocks, run.stride);
        all.append(whole, shift);
    }
    const std::size_t rest = blocks != run.count ? bytes - blocks * run.length : 0;
    all.append_block(shift + run.offset + static_cast<std::ptrdiff_t>(blocks) * run.stride, rest,
                     basic);
    return blocks * run.length + rest;
}

/// The same of runs, one after the other.
std::size_t append_beginning(LayoutBuilder& all, std::span<const Run> runs, Basic basic,
                             std::ptrdiff_t shift, std::size_t bytes)
{
    std::size_t left = bytes;
    for (const Run& run : runs) {
        if (left == 0) {
            break;
        }
        left -= append_beginning(all, run, basic, shift, left);
    }
    return bytes - left;
}

/// The same of a group: its whole repetitions at once.
std::size_t append_beginning(LayoutBuilder& all, std::span<const Run> runs, const RunGroup& group,
                             Basic basic, std::ptrdiff_t shift, std::size_t bytes)
{
    std::size_t size = 0;
    for (const Run& run : runs) {
        size += run.length * run.count;
    }
    const std::size_t repeats = std::min(group.repeats, bytes / size);
    if (repeats != 0) {
        LayoutBuilder one;
        append_beginning(one, runs, basic, 0, size);
        one.replicate(repeats, group.stride);
        all.append(one, shift);
    }
    const std::size_t rest = repeats != group.repeats ? bytes - repeats * size : 0;
    shift += static_cast<std::ptrdiff_t>(repeats) * group.stride;
    return repeats * size + append_beginning(all, runs, basic, shift, rest);
}

} // namespace

LayoutPointer beginning_of(const Layout& layout, std::size_t bytes)
{
    LayoutBuilder all;
    const std::size_t elements = bytes / layout.size;
    if (elements != 0) {
        all.append(layout, 0);
        all.replicate(elements, layout.extent);
    }
    std::size_t rest = bytes % layout.size;
    const std::ptrdiff_t shift = static_cast<std::ptrdiff_t>(elements) * layout.extent;
    std::span<const Run> runs = layout.runs;
    for (const RunGroup& group : layout.groups) {
        if (rest == 0) {
            break;
        }
        rest -= append_beginning(all, runs.first(group.runs), group, layout.basic, shift, rest);
        runs = runs.subspan(group.runs);
    }
    return all.finish(layout.lb, layout.extent);
}

void cut(Buffer& buffer, std::size_t bytes, LayoutPointer& made)
{
    const std::size_t size = buffer.layout->size;
    if (bytes % size == 0) {
        buffer.count = bytes / size;
        return;
    }
    made = beginning_of(*buffer.layout, bytes);
    buffer = {buffer.address, made.get(), 1};
}

} // namespace sidelight::datatype
