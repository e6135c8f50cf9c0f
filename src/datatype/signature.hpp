// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "datatype/basic.hpp"

namespace sidelight::datatype {

/// The type signature of some data: the sequence of its basic elements (MPI-4.1, 5.1), as a number
/// of them and a polynomial of them modulo a prime, so that parts can be put together. Equal
/// sequences have equal ones; others do as rarely as one in 2^60.
struct Signature {
    std::uint64_t elements = 0;
    std::uint64_t digest = 0;

    friend bool operator==(const Signature&, const Signature&) = default;
};

/// So many bytes of one basic type, pairs being two elements; of Basic::none, what no basic type is
/// known of.
[[nodiscard]] Signature signature_of(Basic basic, std::size_t bytes) noexcept;
/// One behind the other.
[[nodiscard]] Signature joined(const Signature& first, const Signature& second) noexcept;
/// So many times.
[[nodiscard]] Signature repeated(const Signature& once, std::uint64_t times) noexcept;

/// How many of `part` make up `whole`. False: no number of them does.
[[nodiscard]] bool made_of(const Signature& whole, const Signature& part,
                           std::uint64_t& times) noexcept;

} // namespace sidelight::datatype
