// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "datatype/basic.hpp"
#include "datatype/signature.hpp"

namespace sidelight::datatype {

/// `count` blocks of `length` bytes, the first `offset` bytes from the buffer, `stride` apart.
struct Run {
    std::ptrdiff_t offset;
    std::size_t length;
    std::ptrdiff_t stride;
    std::size_t count;

    friend bool operator==(const Run&, const Run&) = default;
};

/// So many runs, those that come next in the layout, one after the other, and all of that so many
/// times, `stride` apart.
struct RunGroup {
    std::size_t runs;
    std::size_t repeats;
    std::ptrdiff_t stride;

    friend bool operator==(const RunGroup&, const RunGroup&) = default;
};

/// An MPI datatype, flattened: where the data of one element lie, in the order of the type map.
/// Immutable once made. Predefined layouts live as long as the process; the others are counted:
/// one reference by the cache on the MPI datatype, one by each operation that is recorded.
struct Layout {
    std::size_t size = 0;       ///< bytes of data in one element
    std::ptrdiff_t lb = 0;      ///< lower bound
    std::ptrdiff_t extent = 0;  ///< distance between consecutive elements
    std::ptrdiff_t true_lb = 0; ///< first byte of data
    std::ptrdiff_t true_ub = 0; ///< one past the last byte of data
    Basic basic = Basic::none;  ///< what every byte of it belongs to, or none
    std::uint32_t basic_size =
        0;                   ///< bytes from one basic element to the next (extent of the MPI type)
    Signature signature{};   ///< of one element
    bool contiguous = false; ///< any count of it is one block that starts at the buffer
    bool predefined = false; ///< lives for ever; not counted
    std::vector<Run> runs;   ///< empty for a type without data
    std::vector<RunGroup> groups; ///< one element is these, one after the other
    mutable std::atomic<std::uint32_t> references{1};
};

void acquire(const Layout& layout) noexcept;
/// Drops one reference; the last one frees the layout. Does nothing to a predefined layout.
void release(const Layout* layout) noexcept;

/// First and one-past-last byte that `count` elements touch, relative to the buffer.
/// Equal when nothing is touched. `overflow` when the bounds do not fit.
struct Extent {
    std::ptrdiff_t first;
    std::ptrdiff_t last;
    bool overflow;
};
[[nodiscard]] Extent touched(const Layout& layout, std::size_t count) noexcept;

/// `count` elements of a layout at an address: one side of a transfer.
struct Buffer {
    void* address;
    const Layout* layout;
    std::size_t count;

    [[nodiscard]] std::size_t bytes() const noexcept { return layout->size * count; }
};

/// In how many blocks the data of a buffer lie; where they are more than `most`, some number more
/// than that. One block is counted as one, whatever it consists of, if the layout is contiguous.
[[nodiscard]] std::size_t blocks(const Buffer& buffer, std::size_t most) noexcept;

} // namespace sidelight::datatype
