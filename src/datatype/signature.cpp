// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/signature.hpp"

#include <algorithm>

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

} // namespace

Signature signature_of(Basic basic, std::size_t bytes) noexcept
{
    const std::size_t size = std::max<std::size_t>(shape_of(basic).size, 1);
    const Signature one{.elements = 1, .digest = static_cast<std::uint64_t>(basic) + 1};
    return repeated(one, bytes / size);
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
