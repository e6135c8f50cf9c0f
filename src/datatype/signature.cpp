// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/signature.hpp"

#include <algorithm>
#include <array>

namespace sidelight::datatype {

namespace {

constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;
constexpr std::uint64_t radix = 0x0b5e'55ed'1234'5678 % prime;

std::uint64_t product(std::uint64_t a, std::uint64_t b) noexcept
{
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(Wide{a} * b % prime);
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b) noexcept { return (a + b) % prime; }

std::uint64_t power(std::uint64_t exponent) noexcept
{
    std::uint64_t result = 1;
    for (std::uint64_t base = radix; exponent != 0; exponent >>= 1U) {
        result = (exponent & 1U) != 0 ? product(result, base) : result;
        base = product(base, base);
    }
    return result;
}

struct Pair {
    Basic pair;
    Basic value;
    Basic index;
};
constexpr std::array pairs{
    Pair{Basic::f32_i32, Basic::f32, Basic::i32}, Pair{Basic::f64_i32, Basic::f64, Basic::i32},
    Pair{Basic::i64_i32, Basic::i64, Basic::i32}, Pair{Basic::i32_i32, Basic::i32, Basic::i32},
    Pair{Basic::i16_i32, Basic::i16, Basic::i32}, Pair{Basic::f80_i32, Basic::f80, Basic::i32},
    Pair{Basic::f32_f32, Basic::f32, Basic::f32}, Pair{Basic::f64_f64, Basic::f64, Basic::f64},
};

constexpr Signature of_one(Basic basic) noexcept
{
    return {.elements = 1, .digest = static_cast<std::uint64_t>(basic) + 1};
}

/// To reductions a pair is one element, in the standard's type maps it is two (MPI-4.1, 6.9.4).
Signature of_element(Basic basic) noexcept
{
    for (const Pair& pair : pairs) {
        if (pair.pair == basic) {
            return joined(of_one(pair.value), of_one(pair.index));
        }
    }
    return of_one(basic);
}

} // namespace

Signature signature_of(Basic basic, std::size_t bytes) noexcept
{
    const std::size_t size = std::max<std::size_t>(shape_of(basic).size, 1);
    return repeated(of_element(basic), bytes / size);
}

Signature joined(const Signature& first, const Signature& second) noexcept
{
    return {.elements = first.elements + second.elements,
            .digest = sum(product(first.digest, power(second.elements)), second.digest)};
}

Signature repeated(const Signature& once, std::uint64_t times) noexcept
{
    if (times == 1) {
        return once;
    }
    Signature result;
    Signature doubled = once;
    for (; times != 0; times >>= 1U) {
        result = (times & 1U) != 0 ? joined(doubled, result) : result;
        doubled = joined(doubled, doubled);
    }
    return result;
}

bool made_of(const Signature& whole, const Signature& part, std::uint64_t& times) noexcept
{
    times = part.elements != 0 ? whole.elements / part.elements : 0;
    return repeated(part, times) == whole;
}

} // namespace sidelight::datatype
