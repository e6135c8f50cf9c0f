// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/builder.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sidelight::datatype {
namespace {

template <typename A, typename B>
std::ptrdiff_t product(A a, B b)
{
    std::ptrdiff_t value = 0;
    if (__builtin_mul_overflow(a, b, &value)) {
        throw std::length_error("a datatype does not fit the address space");
    }
    return value;
}

template <typename A, typename B>
std::ptrdiff_t plus(A a, B b)
{
    std::ptrdiff_t value = 0;
    if (__builtin_add_overflow(a, b, &value)) {
        throw std::length_error("a datatype does not fit the address space");
    }
    return value;
}

/// Whether blocks that are this far apart and this long leave nothing between them.
bool touching(std::ptrdiff_t stride, std::size_t length) noexcept
{
    return stride > 0 && static_cast<std::size_t>(stride) == length;
}

/// Makes one block of a run whose blocks touch, and clears what a single block has no use for.
Run simplified(const Run& run)
{
    if (run.count > 1 && touching(run.stride, run.length)) {
        return {run.offset, static_cast<std::size_t>(product(run.length, run.count)), 0, 1};
    }
    return run.count == 1 ? Run{run.offset, run.length, 0, 1} : run;
}

/// Whether `next` continues `run` at one and the same distance; makes it part of it if so.
bool absorb(Run& run, const Run& next)
{
    if (run.length != next.length) {
        return false;
    }
    const std::ptrdiff_t last = plus(run.offset, product(run.count - 1, run.stride));
    std::ptrdiff_t distance = 0;
    if (__builtin_sub_overflow(next.offset, last, &distance)) {
        return false;
    }
    if ((run.count > 1 && run.stride != distance) || (next.count > 1 && next.stride != distance)) {
        return false;
    }
    run.stride = distance;
    run.count += next.count;
    return true;
}

/// First and one-past-last byte of `count` copies, `stride` apart, of what lies in `bounds`.
Extent spread(Extent bounds, std::size_t count, std::ptrdiff_t stride)
{
    const std::ptrdiff_t span = product(count - 1, stride);
    return {plus(bounds.first, std::min<std::ptrdiff_t>(span, 0)),
            plus(bounds.last, std::max<std::ptrdiff_t>(span, 0)), false};
}

Extent bounds_of(const std::vector<Run>& runs)
{
    Extent all{PTRDIFF_MAX, PTRDIFF_MIN, false};
    for (const Run& run : runs) {
        const Extent block{run.offset, plus(run.offset, run.length), false};
        const Extent bounds = spread(block, run.count, run.stride);
        all.first = std::min(all.first, bounds.first);
        all.last = std::max(all.last, bounds.last);
    }
    return all;
}

} // namespace

/// Joins the last run with the one before it if they are of one kind.
inline void LayoutBuilder::settle()
{
    if (runs_.size() > 1 && absorb(runs_[runs_.size() - 2], runs_.back())) {
        runs_.pop_back();
    }
}

/// Adds a run. The last one may still grow by a block that touches it, so it is settled only when
/// something comes after it that does not.
inline void LayoutBuilder::append_run(const Run& run)
{
    if (!runs_.empty()) {
        Run& last = runs_.back();
        const bool blocks = last.count == 1 && run.count == 1;
        if (blocks && plus(last.offset, last.length) == run.offset) {
            last.length += run.length;
            return;
        }
    }
    settle();
    runs_.push_back(run);
}

void LayoutBuilder::append_block(std::ptrdiff_t offset, std::size_t length, Basic basic)
{
    if (length == 0) {
        return;
    }
    expand();
    adopt(basic, length, signature_of(basic, length));
    append_run({offset, length, 0, 1});
}

void LayoutBuilder::append(const LayoutBuilder& part, std::ptrdiff_t offset)
{
    append(part, std::span(&offset, 1));
}

void LayoutBuilder::append(const Layout& part, std::ptrdiff_t offset)
{
    append_runs(part.runs, part.repeats, part.repeat_stride, offset);
    adopt(part.basic, part.size, part.signature);
}

void LayoutBuilder::append(const LayoutBuilder& part, std::span<const std::ptrdiff_t> offsets)
{
    const bool one_run = part.runs_.size() == 1 && part.repeats_ == 1; // as most have
    for (const std::ptrdiff_t offset : offsets) {
        if (one_run && !runs_.empty() && repeats_ == 1) {
            const Run& run = part.runs_.front();
            append_run({plus(run.offset, offset), run.length, run.stride, run.count});
        } else {
            append_runs(part.runs_, part.repeats_, part.repeat_stride_, offset);
        }
    }
    adopt(part.basic_, static_cast<std::size_t>(product(part.size_, offsets.size())),
          repeated(part.signature_, offsets.size()));
}

void LayoutBuilder::replicate(std::size_t count, std::ptrdiff_t stride)
{
    size_ = static_cast<std::size_t>(product(size_, count));
    if (size_ == 0) {
        *this = LayoutBuilder{};
        return;
    }
    if (count == 1) {
        return;
    }
    signature_ = repeated(signature_, count);
    settle();
    if (repeats_ > 1 && product(repeats_, repeat_stride_) != stride) {
        expand();
    }
    if (repeats_ > 1) {
        repeats_ *= count;
    } else if (runs_.size() > 1 || !replicate_run(runs_.front(), count, stride)) {
        repeats_ = count;
        repeat_stride_ = stride;
    }
}

LayoutPointer LayoutBuilder::finish(std::ptrdiff_t lb, std::ptrdiff_t extent)
{
    return LayoutPointer(make(lb, extent).release());
}

const Layout* LayoutBuilder::finish_forever(std::ptrdiff_t lb, std::ptrdiff_t extent)
{
    std::unique_ptr<Layout> layout = make(lb, extent);
    layout->predefined = true;
    return layout.release();
}

std::unique_ptr<Layout> LayoutBuilder::make(std::ptrdiff_t lb, std::ptrdiff_t extent)
{
    settle();
    auto layout = std::make_unique<Layout>();
    layout->size = size_;
    layout->lb = lb;
    layout->extent = extent;
    layout->signature = signature_;
    layout->basic = basic_;
    layout->basic_size = shape_of(basic_).extent;
    if (!runs_.empty()) {
        const Extent bounds = spread(bounds_of(runs_), repeats_, repeat_stride_);
        layout->true_lb = bounds.first;
        layout->true_ub = bounds.last;
    }
    const Run one_block{0, size_, 0, 1};
    layout->contiguous = size_ == 0 || (runs_.size() == 1 && runs_.front() == one_block &&
                                        repeats_ == 1 && touching(extent, size_));
    layout->repeats = repeats_;
    layout->repeat_stride = repeat_stride_;
    runs_.shrink_to_fit();
    layout->runs = std::move(runs_);
    *this = LayoutBuilder{};
    return layout;
}

void LayoutBuilder::append_runs(const std::vector<Run>& runs, std::size_t repeats,
                                std::ptrdiff_t repeat_stride, std::ptrdiff_t offset)
{
    if (runs.empty()) {
        return;
    }
    const bool keep_repeats = runs_.empty();
    expand();
    for (std::size_t repeat = 0; repeat < (keep_repeats ? 1 : repeats); ++repeat) {
        const std::ptrdiff_t shift = plus(offset, product(repeat, repeat_stride));
        for (const Run& run : runs) {
            append_run({plus(run.offset, shift), run.length, run.stride, run.count});
        }
    }
    if (keep_repeats) {
        repeats_ = repeats;
        repeat_stride_ = repeat_stride;
    }
}

/// Turns the repetition of the whole into runs, so that something else can follow it.
void LayoutBuilder::expand()
{
    if (repeats_ == 1) {
        return;
    }
    const std::vector<Run> once = std::move(runs_);
    runs_.clear();
    runs_.reserve(once.size() * repeats_);
    const std::size_t repeats = std::exchange(repeats_, 1);
    const std::ptrdiff_t stride = std::exchange(repeat_stride_, 0);
    for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
        const std::ptrdiff_t shift = product(repeat, stride);
        for (const Run& run : once) {
            append_run({plus(run.offset, shift), run.length, run.stride, run.count});
        }
    }
    settle();
}

/// What the type is made of, now that `size` bytes of `basic` are added to it. Types without data
/// have no say.
void LayoutBuilder::adopt(Basic basic, std::size_t size, const Signature& signature)
{
    if (size == 0) {
        return;
    }
    basic_ = size_ == 0 || basic_ == basic ? basic : Basic::none;
    size_ = static_cast<std::size_t>(plus(size_, size));
    signature_ = joined(signature_, signature);
}

bool LayoutBuilder::replicate_run(Run& run, std::size_t count, std::ptrdiff_t stride)
{
    if (run.count == 1) {
        run = simplified({run.offset, run.length, stride, count});
        return true;
    }
    if (product(run.count, run.stride) != stride) {
        return false;
    }
    run.count *= count;
    return true;
}

} // namespace sidelight::datatype
