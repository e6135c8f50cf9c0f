// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "datatype/layout.hpp"

namespace sidelight::datatype {

/// A piece of memory with nothing between its bytes.
struct Piece {
    std::byte* address;
    std::size_t length;
};

/// `count` blocks of `length` bytes, `stride` apart.
struct Blocks {
    std::byte* address;
    std::size_t length;
    std::ptrdiff_t stride;
    std::size_t count;
};

/// Walks the data of a buffer in the order of the type map, as contiguous pieces. Allocates
/// nothing. The layout must outlive it; a buffer without one has no data. Every piece of a layout
/// with a Basic starts and ends between elements, except where the elements themselves have holes.
class Cursor {
public:
    explicit Cursor(const Buffer& buffer) noexcept
        : layout_(buffer.layout),
          element_(static_cast<std::byte*>(buffer.address)),
          repeat_(element_),
          elements_left_(buffer.count)
    {
        if (layout_ == nullptr || layout_->size == 0 || buffer.count == 0) {
            return;
        }
        if (layout_->contiguous) {
            piece_ = {element_, buffer.bytes()};
            blocks_left_ = 1;
            elements_left_ = 1;
        } else {
            enter_element();
            enter_run();
        }
    }

    /// What is left of the piece at the cursor; of length 0 at the end.
    [[nodiscard]] Piece piece() const noexcept { return piece_; }
    [[nodiscard]] bool at_end() const noexcept { return piece_.length == 0; }
    /// The piece at the cursor and those that follow it at equal distances, as far as they are as
    /// long as it.
    [[nodiscard]] Blocks blocks() const noexcept;

    /// Moves by `bytes` of data, over as many pieces as that takes, at most to the end.
    void advance(std::size_t bytes) noexcept;

private:
    void advance_in_run(std::size_t bytes) noexcept;
    void enter_next_run() noexcept;
    void enter_element() noexcept
    {
        group_ = layout_->groups.data();
        run_ = 0;
        enter_group();
    }
    void enter_group() noexcept
    {
        repeat_ = element_;
        repeats_left_ = group_->repeats;
        runs_left_ = group_->runs;
    }
    void enter_run() noexcept;

    const Layout* layout_;
    Piece piece_{nullptr, 0};
    std::byte* element_; ///< where the element at the cursor starts
    std::byte* repeat_;  ///< and the repetition of a group within it
    const RunGroup* group_ = nullptr;
    std::size_t run_ = 0; ///< index in the runs
    // With the one at the cursor:
    std::size_t elements_left_;
    std::size_t repeats_left_ = 1; ///< of the group
    std::size_t runs_left_ = 1;    ///< in the repetition
    std::size_t blocks_left_ = 0;  ///< in the run
};

/// Copies the data of one buffer to another, in the order of both type maps, and returns the bytes
/// copied: those of the smaller buffer. Aligned blocks of 1, 2, 4 or 8 bytes are never torn.
/// The buffers must not overlap, unless both are contiguous and identical.
std::size_t copy(const Buffer& to, const Buffer& from) noexcept;

} // namespace sidelight::datatype
