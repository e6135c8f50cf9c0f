// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "datatype/layout.hpp"

namespace sidelight::datatype {

struct LayoutDeleter {
    void operator()(const Layout* layout) const noexcept { release(layout); }
};
/// One counted reference to a layout.
using LayoutPointer = std::unique_ptr<const Layout, LayoutDeleter>;

/// Where the data of a type lie, while it is being put together. Blocks that touch become one,
/// equal blocks at equal distances become one Run, and what is repeated often is kept once.
/// May throw std::bad_alloc, and std::length_error when a size or an address does not fit.
class LayoutBuilder {
public:
    /// Adds one block of data at the end of the type map.
    void append_block(std::ptrdiff_t offset, std::size_t length, Basic basic = Basic::none);
    /// All blocks so far are parts of one element.
    void set_signature(const Signature& of_element) noexcept { signature_ = of_element; }
    /// Adds a whole type map at the end of this one, shifted by `offset`.
    void append(const LayoutBuilder& part, std::ptrdiff_t offset);
    void append(const Layout& part, std::ptrdiff_t offset);
    /// The same at each of these offsets.
    void append(const LayoutBuilder& part, std::span<const std::ptrdiff_t> offsets);
    /// Makes this `count` copies of itself, `stride` apart.
    void replicate(std::size_t count, std::ptrdiff_t stride);

    [[nodiscard]] bool empty() const noexcept { return runs_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] Basic basic() const noexcept { return basic_; }

    /// The layout with these bounds; the builder is empty afterwards.
    [[nodiscard]] LayoutPointer finish(std::ptrdiff_t lb, std::ptrdiff_t extent);
    /// The same as a predefined layout, which is not counted and never freed.
    [[nodiscard]] const Layout* finish_forever(std::ptrdiff_t lb, std::ptrdiff_t extent);

private:
    [[nodiscard]] std::unique_ptr<Layout> make(std::ptrdiff_t lb, std::ptrdiff_t extent);
    void append_run(const Run& run);
    void append_repeated(std::span<const Run> runs, const RunGroup& group, std::ptrdiff_t offset);
    void append_group(std::span<const Run> runs, const RunGroup& group, std::ptrdiff_t offset);
    void append_groups(const std::vector<Run>& runs, const std::vector<RunGroup>& groups,
                       std::ptrdiff_t offset);
    RunGroup& open_group();
    void settle();
    void expand_last();
    void expand();
    void adopt(Basic basic, std::size_t size, const Signature& signature);
    static bool replicate_run(Run& run, std::size_t count, std::ptrdiff_t stride);

    std::vector<Run> runs_;
    std::vector<RunGroup> groups_; ///< the last one grows while it is there once
    std::size_t size_ = 0;
    Basic basic_ = Basic::none;
    Signature signature_;
};

} // namespace sidelight::datatype
