// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/beginning.hpp"

#include <algorithm>

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
    std::ptrdiff_t shift = static_cast<std::ptrdiff_t>(elements) * layout.extent;
    for (std::size_t repeat = 0; repeat < layout.repeats && rest != 0; ++repeat) {
        for (const Run& run : layout.runs) {
            rest -= append_beginning(all, run, layout.basic, shift, rest);
        }
        shift += layout.repeat_stride;
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
