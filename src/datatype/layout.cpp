// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/layout.hpp"

namespace sidelight::datatype {

void acquire(const Layout& layout) noexcept
{
    if (!layout.predefined) {
        layout.references.fetch_add(1, std::memory_order_relaxed);
    }
}

void release(const Layout* layout) noexcept
{
    if (layout == nullptr || layout->predefined) {
        return;
    }
    // Release orders this holder's reads before the deletion, acquire orders the deletion after
    // all.
    if (layout->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        delete layout;
    }
}

Extent touched(const Layout& layout, std::size_t count) noexcept
{
    if (count == 0 || layout.size == 0) {
        return {0, 0, false};
    }
    std::ptrdiff_t span = 0;
    std::ptrdiff_t bytes = 0;
    bool overflow = __builtin_mul_overflow(count - 1, layout.extent, &span) ||
                    __builtin_mul_overflow(count, layout.size, &bytes);
    const bool down = span < 0;
    std::ptrdiff_t moved = down ? layout.true_lb : layout.true_ub;
    overflow = __builtin_add_overflow(moved, span, &moved) || overflow;
    return {down ? moved : layout.true_lb, down ? layout.true_ub : moved, overflow};
}

std::size_t blocks(const Buffer& buffer, std::size_t most) noexcept
{
    const Layout& layout = *buffer.layout;
    if (layout.contiguous || buffer.bytes() == 0) {
        return 1;
    }
    std::size_t found = 0; // in one element; as long as that is not too many
    const Run* run = layout.runs.data();
    for (const RunGroup& group : layout.groups) {
        for (const Run* end = run + group.runs; run != end; ++run) {
            std::size_t blocks = 0;
            if (__builtin_mul_overflow(run->count, group.repeats, &blocks) ||
                __builtin_add_overflow(found, blocks, &found)) {
                return SIZE_MAX;
            }
            if (found > most) {
                return found;
            }
        }
    }
    return __builtin_mul_overflow(found, buffer.count, &found) ? SIZE_MAX : found;
}

} // namespace sidelight::datatype
