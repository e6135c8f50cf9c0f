// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "fabric/sim/random.hpp"
#include "rma/accumulate/element.hpp"
#include "rma/accumulate/reduction.hpp"

namespace sidelight::unit {

/// Reductions once more, on one wide type for all: what the table of kernels is compared with.
struct Value {
    rma::Int128 integer = 0; ///< also logical, byte, character and the integer of a pair
    long double real = 0;    ///< also the real part, and the value of a pair of reals
    long double other = 0;   ///< imaginary part, or the index of a pair

    friend bool operator==(const Value&, const Value&) = default;
};

/// What MPI-4.1, 6.9.2 calls the type.
[[nodiscard]] rma::Kind kind_of(datatype::Basic basic) noexcept;
/// Whether MPI-4.1, 6.9.2 and 12.3.4 allow the combination.
[[nodiscard]] bool is_allowed(rma::ReduceOp op, datatype::Basic basic) noexcept;

[[nodiscard]] Value decode(datatype::Basic basic, const std::byte* memory) noexcept;
/// Writes the data of one element, and none of its holes.
void encode(datatype::Basic basic, const Value& value, std::byte* memory) noexcept;

/// Combines one element into the one at `target`.
void combine_reference(rma::ReduceOp op, datatype::Basic basic, std::byte* target,
                       const std::byte* origin) noexcept;

/// Fills `elements` elements: integers of any size; reals so small that every sum and product of a
/// few of them is exact.
void fill(fabric::sim::Random& random, datatype::Basic basic, std::byte* memory,
          std::size_t elements) noexcept;

/// Clears the bytes of an element that are padding of its long doubles: they have no value.
void clear_padding(datatype::Basic basic, std::byte* memory) noexcept;

} // namespace sidelight::unit
