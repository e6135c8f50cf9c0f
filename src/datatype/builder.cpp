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

Extent bounds_of(std::span<const Run> runs, const std::vector<RunGroup>& groups)
{
    Extent all{PTRDIFF_MAX, PTRDIFF_MIN, false};
    for (const RunGroup& group : groups) {
        for (const Run& run : runs.first(group.runs)) {
            const Extent block{run.offset, plus(run.offset, run.length), false};
            const Extent bounds =
                spread(spread(block, run.count, run.stride), group.repeats, group.stride);
            all.first = std::min(all.first, bounds.first);
            all.last = std::max(all.last, bounds.last);
        }
        runs = runs.subspan(group.runs);
    }
    return all;
}

constexpr RunGroup single_group{.runs = 0, .repeats = 1, .stride = 0};

/// Whether it takes hardly more memory as runs, which may join with what is around them.
bool is_short(const RunGroup& group) noexcept
{
    constexpr std::size_t most_runs = 16;
    return group.repeats <= most_runs / group.runs;
}

} // namespace

/// Joins the last run with the one before it if they are of one kind.
inline void LayoutBuilder::settle()
{
    if (!groups_.empty() && groups_.back().runs > 1 &&
        absorb(runs_[runs_.size() - 2], runs_.back())) {
        runs_.pop_back();
        --groups_.back().runs;
    }
}

/// The last group, for another run. A repetition is over: a short one becomes runs, which that may
/// continue; behind a long one there is another group.
inline RunGroup& LayoutBuilder::open_group()
{
    if (!groups_.empty() && groups_.back().repeats > 1 && is_short(groups_.back())) {
        expand_last();
    }
    if (groups_.empty() || groups_.back().repeats > 1) {
        groups_.push_back(single_group);
    }
    return groups_.back();
}

/// Adds a run. The last one may still grow by a block that touches it, so it is settled only when
/// something comes after it that does not.
inline void LayoutBuilder::append_run(const Run& run)
{
    RunGroup& group = open_group();
    if (group.runs != 0) {
        Run& last = runs_.back();
        const bool blocks = last.count == 1 && run.count == 1;
        if (blocks && plus(last.offset, last.length) == run.offset) {
            last.length += run.length;
            return;
        }
        settle();
    }
    runs_.push_back(run);
    ++group.runs;
}

void LayoutBuilder::append_block(std::ptrdiff_t offset, std::size_t length, Basic basic)
{
    if (length == 0) {
        return;
    }
    adopt(basic, length, signature_of(basic, length));
    append_run({offset, length, 0, 1});
}

void LayoutBuilder::append(const LayoutBuilder& part, std::ptrdiff_t offset)
{
    append(part, std::span(&offset, 1));
}

void LayoutBuilder::append(const Layout& part, std::ptrdiff_t offset)
{
    append_groups(part.runs, part.groups, offset);
    adopt(part.basic, part.size, part.signature);
}

void LayoutBuilder::append(const LayoutBuilder& part, std::span<const std::ptrdiff_t> offsets)
{
    for (const std::ptrdiff_t offset : offsets) {
        append_groups(part.runs_, part.groups_, offset);
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
    const RunGroup& first = groups_.front();
    if (groups_.size() > 1 ||
        (first.repeats > 1 && product(first.repeats, first.stride) != stride)) {
        expand();
    }
    RunGroup& whole = groups_.front();
    if (whole.repeats > 1) {
        whole.repeats *= count;
    } else if (whole.runs > 1 || !replicate_run(runs_.front(), count, stride)) {
        whole.repeats = count;
        whole.stride = stride;
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
        const Extent bounds = bounds_of(runs_, groups_);
        layout->true_lb = bounds.first;
        layout->true_ub = bounds.last;
    }
    const Run one_block{0, size_, 0, 1};
    layout->contiguous = size_ == 0 || (runs_.size() == 1 && runs_.front() == one_block &&
                                        groups_.front().repeats == 1 && touching(extent, size_));
    runs_.shrink_to_fit();
    groups_.shrink_to_fit();
    layout->runs = std::move(runs_);
    layout->groups = std::move(groups_);
    *this = LayoutBuilder{};
    return layout;
}

void LayoutBuilder::append_repeated(std::span<const Run> runs, const RunGroup& group,
                                    std::ptrdiff_t offset)
{
    for (std::size_t repeat = 0; repeat < group.repeats; ++repeat) {
        const std::ptrdiff_t shift = plus(offset, product(repeat, group.stride));
        for (const Run& run : runs) {
            append_run({plus(run.offset, shift), run.length, run.stride, run.count});
        }
    }
}

/// A short repetition becomes runs, unless it is the first: it may be all, and repeated in turn.
void LayoutBuilder::append_group(std::span<const Run> runs, const RunGroup& group,
                                 std::ptrdiff_t offset)
{
    if (group.repeats == 1 || (!runs_.empty() && is_short(group))) {
        append_repeated(runs, group, offset);
        return;
    }
    settle();
    groups_.push_back(group);
    for (const Run& run : runs) {
        runs_.push_back({plus(run.offset, offset), run.length, run.stride, run.count});
    }
}

void LayoutBuilder::append_groups(const std::vector<Run>& runs, const std::vector<RunGroup>& groups,
                                  std::ptrdiff_t offset)
{
    std::span<const Run> left = runs;
    for (const RunGroup& group : groups) {
        append_group(left.first(group.runs), group, offset);
        left = left.subspan(group.runs);
    }
}

/// Turns the last group into runs.
void LayoutBuilder::expand_last()
{
    const RunGroup group = groups_.back();
    const auto first = runs_.end() - static_cast<std::ptrdiff_t>(group.runs);
    const std::vector<Run> repeated(first, runs_.end());
    groups_.pop_back();
    runs_.erase(first, runs_.end());
    append_repeated(repeated, group, 0);
}

/// Turns all into runs, one group that is there once, so that it can be repeated.
void LayoutBuilder::expand()
{
    const std::vector<Run> runs = std::exchange(runs_, {});
    const std::vector<RunGroup> groups = std::exchange(groups_, {single_group});
    std::size_t all = 0;
    for (const RunGroup& group : groups) {
        all = static_cast<std::size_t>(plus(all, product(group.runs, group.repeats)));
    }
    runs_.reserve(all); // too many are no memory at once
    std::span<const Run> left = runs;
    for (const RunGroup& group : groups) {
        append_repeated(left.first(group.runs), group, 0);
        left = left.subspan(group.runs);
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
