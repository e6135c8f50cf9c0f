// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "datatype/builder.hpp"
#include "fabric/sim/random.hpp"

namespace sidelight::unit {

using fabric::sim::Random;

/// A datatype as MPI-4.1, 5.1 defines it: displacements, one by one. Slow and plainly right.
struct TypeMap {
    std::vector<std::ptrdiff_t> bytes;    ///< where each byte of data is, in the order of the map
    std::vector<std::ptrdiff_t> elements; ///< where each basic element starts
    datatype::Basic basic = datatype::Basic::none;
    std::ptrdiff_t lb = 0;
    std::ptrdiff_t extent = 0;

    void append(const TypeMap& part, std::ptrdiff_t offset);
    [[nodiscard]] bool has_bounds() const noexcept { return parts_ > 0; }

    /// Of `count` elements of the type, each an extent from the one before.
    [[nodiscard]] TypeMap times(std::size_t count) const;
    /// First and one past the last byte of data; both 0 without data.
    [[nodiscard]] std::ptrdiff_t first() const;
    [[nodiscard]] std::ptrdiff_t last() const;
    /// Whether a byte of memory is in the map twice.
    [[nodiscard]] bool overlaps() const;

private:
    std::size_t parts_ = 0;
};

/// One type, described twice.
struct Type {
    TypeMap map;
    datatype::LayoutPointer layout;
};

/// A random tree of type constructors over elements of `basic`; over a mixture if that is `none`.
/// At most some thousand bytes of data, at most some hundred thousand bytes apart.
[[nodiscard]] Type draw_type(Random& random, datatype::Basic basic);

/// The same, in which no byte of `count` elements is another one's too: fit to be written to.
[[nodiscard]] Type draw_target_type(Random& random, datatype::Basic basic, std::size_t count);

/// Any Basic but none.
[[nodiscard]] datatype::Basic draw_basic(Random& random);

/// Memory for `count` elements of a type, filled at random, with some more on both sides.
class Arena {
public:
    Arena(const TypeMap& map, std::size_t count, std::size_t misalignment, Random& random);

    /// The address to which displacements are relative: `misalignment` past a multiple of 16.
    [[nodiscard]] std::byte* base() noexcept { return at(0); }
    /// Also outside: what an empty type is relative to.
    [[nodiscard]] std::byte* at(std::ptrdiff_t displacement) noexcept
    {
        return bytes_.data() + zero_ + displacement;
    }

    friend bool operator==(const Arena&, const Arena&) = default;

private:
    std::vector<std::byte> bytes_;
    std::ptrdiff_t zero_ = 0;
};

} // namespace sidelight::unit
