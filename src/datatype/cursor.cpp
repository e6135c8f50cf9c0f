// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/cursor.hpp"

#include <algorithm>

#include "base/bytes.hpp"

namespace sidelight::datatype {
namespace {

/// The beginning of `blocks` as blocks of `length`: as they are if that is their length, else cut
/// from the first one.
Blocks cut(const Blocks& blocks, std::size_t length) noexcept
{
    if (blocks.length == length) {
        return blocks;
    }
    return {blocks.address, length, static_cast<std::ptrdiff_t>(length), blocks.length / length};
}

void copy_blocks(const Blocks& to, const Blocks& from) noexcept
{
    std::byte* target = to.address;
    const std::byte* origin = from.address;
    for (std::size_t left = std::min(to.count, from.count);;) {
        store_bytes(target, origin, to.length);
        if (--left == 0) {
            return;
        }
        target += to.stride;
        origin += from.stride;
    }
}

} // namespace

Blocks Cursor::blocks() const noexcept
{
    const Run& run = layout_->runs[run_];
    const std::size_t count = piece_.length == run.length ? blocks_left_ : 1;
    return {piece_.address, piece_.length, run.stride, count};
}

void Cursor::advance(std::size_t bytes) noexcept
{
    while (bytes >= piece_.length && piece_.length > 0) {
        const std::size_t rest = piece_.length + (blocks_left_ - 1) * layout_->runs[run_].length;
        if (bytes < rest) {
            break;
        }
        bytes -= rest;
        enter_next_run();
    }
    if (bytes > 0 && piece_.length > 0) {
        advance_in_run(bytes);
    }
}

/// Moves by less than what is left of the run.
void Cursor::advance_in_run(std::size_t bytes) noexcept
{
    if (bytes < piece_.length) {
        piece_.address = displaced(piece_.address, static_cast<std::ptrdiff_t>(bytes));
        piece_.length -= bytes;
        return;
    }
    const Run& run = layout_->runs[run_];
    const std::size_t past = bytes - piece_.length;
    const std::size_t blocks = 1 + past / run.length;
    const std::size_t inside = past % run.length;
    const std::ptrdiff_t into_block = static_cast<std::ptrdiff_t>(inside) -
                                      static_cast<std::ptrdiff_t>(run.length - piece_.length);
    blocks_left_ -= blocks;
    piece_ = {
        displaced(piece_.address, static_cast<std::ptrdiff_t>(blocks) * run.stride + into_block),
        run.length - inside};
}

void Cursor::enter_next_run() noexcept
{
    ++run_;
    if (--runs_left_ == 0) {
        if (--repeats_left_ > 0) {
            repeat_ = displaced(repeat_, group_->stride);
            runs_left_ = group_->runs;
            run_ -= runs_left_;
        } else if (run_ != layout_->runs.size()) {
            ++group_;
            enter_group();
        } else if (--elements_left_ > 0) {
            element_ = displaced(element_, layout_->extent);
            enter_element();
        } else {
            piece_ = {nullptr, 0};
            return;
        }
    }
    enter_run();
}

void Cursor::enter_run() noexcept
{
    const Run& run = layout_->runs[run_];
    piece_ = {displaced(repeat_, run.offset), run.length};
    blocks_left_ = run.count;
}

std::size_t copy(const Buffer& to, const Buffer& from) noexcept
{
    const std::size_t bytes = std::min(to.bytes(), from.bytes());
    if (bytes == 0) {
        return 0;
    }
    if (to.layout->contiguous && from.layout->contiguous) {
        store_bytes(to.address, from.address, bytes);
        return bytes;
    }
    Cursor target(to);
    Cursor origin(from);
    for (std::size_t left = bytes; left > 0;) {
        const std::size_t length = std::min({target.piece().length, origin.piece().length, left});
        Blocks into = cut(target.blocks(), length);
        const Blocks out_of = cut(origin.blocks(), length);
        into.count = std::min(into.count, left / length);
        const std::size_t moved = std::min(into.count, out_of.count) * length;
        copy_blocks(into, out_of);
        target.advance(moved);
        origin.advance(moved);
        left -= moved;
    }
    return bytes;
}

} // namespace sidelight::datatype
