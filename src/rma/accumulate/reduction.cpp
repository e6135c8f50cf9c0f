// SPDX-License-Identifier: BSD-3-Clause
#include "rma/accumulate/reduction.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/cpu.hpp"
#include "rma/accumulate/element.hpp"

namespace sidelight::rma {
namespace {

using datatype::Basic;
using datatype::shape_of;

constexpr std::size_t op_count = static_cast<std::size_t>(ReduceOp::count_);

/// MPI-4.1, 6.9.2. The languages are not told apart: a Fortran integer is an integer.
constexpr bool allowed(ReduceOp op, Kind kind) noexcept
{
    switch (op) {
    case ReduceOp::sum:
    case ReduceOp::prod:
        return kind == Kind::integer || kind == Kind::real || kind == Kind::complex;
    case ReduceOp::max:
    case ReduceOp::min:
        return kind == Kind::integer || kind == Kind::real;
    case ReduceOp::land:
    case ReduceOp::lor:
    case ReduceOp::lxor:
        return kind == Kind::integer || kind == Kind::logical;
    case ReduceOp::band:
    case ReduceOp::bor:
    case ReduceOp::bxor:
        return kind == Kind::integer || kind == Kind::byte;
    case ReduceOp::maxloc:
    case ReduceOp::minloc:
        return kind == Kind::pair;
    default:
        return kind != Kind::none;
    }
}

/// An unsigned type in which integers of type T wrap around as MPI's users expect.
template <typename T>
using Wrapping = std::conditional_t<sizeof(T) <= 8, std::uint64_t, UnsignedInt128>;

/// Sum and product of scalars.
template <ReduceOp op, Kind kind, typename T>
T arithmetic(T a, T b) noexcept
{
    if constexpr (kind == Kind::integer) {
        const auto x = static_cast<Wrapping<T>>(a);
        const auto y = static_cast<Wrapping<T>>(b);
        return static_cast<T>(op == ReduceOp::sum ? x + y : x * y);
    } else {
        return static_cast<T>(op == ReduceOp::sum ? a + b : a * b);
    }
}

template <ReduceOp op, Kind kind, typename T>
Complex<T> arithmetic(const Complex<T>& a, const Complex<T>& b) noexcept
{
    if constexpr (op == ReduceOp::sum) {
        return {static_cast<T>(a.real + b.real), static_cast<T>(a.imaginary + b.imaginary)};
    } else {
        return {static_cast<T>(a.real * b.real - a.imaginary * b.imaginary),
                static_cast<T>(a.real * b.imaginary + a.imaginary * b.real)};
    }
}

template <ReduceOp op, typename T>
T logical(T a, T b) noexcept
{
    const bool x = a != 0;
    const bool y = b != 0;
    const bool value = op == ReduceOp::land ? x && y : op == ReduceOp::lor ? x || y : x != y;
    return static_cast<T>(value);
}

template <ReduceOp op, typename T>
T bitwise(T a, T b) noexcept
{
    return static_cast<T>(op == ReduceOp::band ? a & b : op == ReduceOp::bor ? a | b : a ^ b);
}

/// The better value and its index; of equal values the lower index.
template <ReduceOp op, typename T>
T located(const T& a, const T& b) noexcept
{
    if (a.value == b.value) {
        return b.index < a.index ? b : a;
    }
    const bool b_wins = op == ReduceOp::maxloc ? a.value < b.value : b.value < a.value;
    return b_wins ? b : a;
}

template <ReduceOp op, typename E, typename T = typename E::Type>
T combined(const T& target, const T& origin) noexcept
{
    if constexpr (op == ReduceOp::sum || op == ReduceOp::prod) {
        return arithmetic<op, E::kind>(target, origin);
    } else if constexpr (op == ReduceOp::max) {
        return target < origin ? origin : target;
    } else if constexpr (op == ReduceOp::min) {
        return origin < target ? origin : target;
    } else if constexpr (op == ReduceOp::land || op == ReduceOp::lor || op == ReduceOp::lxor) {
        return logical<op>(target, origin);
    } else if constexpr (op == ReduceOp::band || op == ReduceOp::bor || op == ReduceOp::bxor) {
        return bitwise<op>(target, origin);
    } else if constexpr (op == ReduceOp::maxloc || op == ReduceOp::minloc) {
        return located<op>(target, origin);
    } else {
        return origin;
    }
}

/// Positions in the three buffers, moved from element to element together.
struct Places {
    std::byte* target;
    const std::byte* origin;
    std::byte* result;

    Places(void* t, const void* o, void* r) noexcept
        : target(static_cast<std::byte*>(t)),
          origin(static_cast<const std::byte*>(o)),
          result(static_cast<std::byte*>(r))
    {}
    void advance(std::size_t extent) noexcept
    {
        target += extent;
        origin = origin == nullptr ? nullptr : origin + extent;
        result = result == nullptr ? nullptr : result + extent;
    }
};

/// Elements that fill a row, in a loop that compilers make vector instructions of: no origin
/// overlaps its target. Unrolled, because a vector a turn takes up to twice as long.
template <ReduceOp op, typename E>
[[gnu::always_inline]] inline void combine_row(std::byte* __restrict target,
                                               const std::byte* __restrict origin,
                                               std::size_t elements) noexcept
{
    constexpr std::size_t size = sizeof(typename E::Type);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < elements; ++i) {
        std::byte* to = target + i * size;
        E::store(to, combined<op, E>(E::load(to), E::load(origin + i * size)));
    }
}

template <ReduceOp op, typename E>
[[gnu::always_inline]] inline void plain_row(const Places& at, std::size_t elements) noexcept
{
    const std::size_t bytes = elements * sizeof(typename E::Type);
    if (at.result != nullptr) {
        std::memcpy(at.result, at.target, bytes);
    }
    if constexpr (op == ReduceOp::replace) {
        std::memcpy(at.target, at.origin, bytes);
    } else if constexpr (op == ReduceOp::sum && E::kind == Kind::complex) {
        using Part = Real<decltype(E::Type::real)>;
        combine_row<op, Part>(at.target, at.origin, 2 * elements);
    } else if constexpr (op != ReduceOp::no_op) {
        combine_row<op, E>(at.target, at.origin, elements);
    }
}

template <Basic basic>
constexpr bool fills_rows() noexcept
{
    return Element<basic>::kind != Kind::pair && !shape_of(basic).has_holes();
}

template <ReduceOp op, Basic basic>
void plain_kernel(void* target, const void* origin, void* result, std::size_t elements) noexcept
{
    using E = Element<basic>;
    Places at(target, origin, result);
    if constexpr (fills_rows<basic>()) {
        return plain_row<op, E>(at, elements);
    }
    for (; elements > 0; --elements, at.advance(shape_of(basic).extent)) {
        const auto old = E::load(at.target);
        if constexpr (op != ReduceOp::no_op) {
            E::store(at.target, combined<op, E>(old, E::load(at.origin)));
        }
        if (at.result != nullptr) {
            E::store(at.result, old);
        }
    }
}

/// Whether longer vectors make a row faster: nothing is computed where elements are replaced, and
/// no vector has an arithmetic for the types that are left out. Logical operations are left out
/// because they are rare, and each kernel takes some hundred bytes.
constexpr bool gains_by_wide_vectors(ReduceOp op, Basic basic) noexcept
{
    switch (op) {
    case ReduceOp::replace:
    case ReduceOp::no_op:
    case ReduceOp::land:
    case ReduceOp::lor:
    case ReduceOp::lxor:
        return false;
    default:
        return may_have_wide_vectors && basic != Basic::f16 && basic != Basic::c16 &&
               (shape_of(basic).atomic != 0 || basic == Basic::c64);
    }
}

template <ReduceOp op, Basic basic>
SIDELIGHT_WIDE_VECTORS void wide_kernel(void* target, const void* origin, void* result,
                                        std::size_t elements) noexcept
{
    plain_row<op, Element<basic>>(Places(target, origin, result), elements);
}

/// Products are left out because they are rare, and those of complex numbers would be rounded
/// otherwise: these instructions have a multiplication that adds.
constexpr bool gains_by_widest_vectors(ReduceOp op, Basic basic) noexcept
{
    return op != ReduceOp::prod && gains_by_wide_vectors(op, basic);
}

template <ReduceOp op, Basic basic>
SIDELIGHT_WIDEST_VECTORS void widest_kernel(void* target, const void* origin, void* result,
                                            std::size_t elements) noexcept
{
    plain_row<op, Element<basic>>(Places(target, origin, result), elements);
}

template <std::size_t bytes>
using Word = std::conditional_t<
    bytes == 1, std::uint8_t,
    std::conditional_t<bytes == 2, std::uint16_t,
                       std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>>;

/// Replaces what is at the target by its combination with the origin; returns what was there.
/// Bytes of the word that are no data keep the values that others give them.
template <ReduceOp op, typename E, typename W>
W compare_and_swap_loop(W* target, const typename E::Type& origin) noexcept
{
    W old = __atomic_load_n(target, __ATOMIC_RELAXED);
    W next = old;
    do {
        next = old;
        E::store(&next, combined<op, E>(E::load(&old), origin));
    } while (
        !__atomic_compare_exchange_n(target, &old, next, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return old;
}

/// Operations for which it does not matter what the bits mean, nor how many elements they are.
template <ReduceOp op>
constexpr bool takes_bits =
    op == ReduceOp::replace || op == ReduceOp::band || op == ReduceOp::bor || op == ReduceOp::bxor;

template <ReduceOp op, typename W>
W exchange_bits(W* target, W word) noexcept
{
    if constexpr (op == ReduceOp::replace) {
        return __atomic_exchange_n(target, word, __ATOMIC_SEQ_CST);
    } else if constexpr (op == ReduceOp::band) {
        return __atomic_fetch_and(target, word, __ATOMIC_SEQ_CST);
    } else if constexpr (op == ReduceOp::bor) {
        return __atomic_fetch_or(target, word, __ATOMIC_SEQ_CST);
    } else {
        return __atomic_fetch_xor(target, word, __ATOMIC_SEQ_CST);
    }
}

/// One element, by the instruction that the processor has for it, or else in a loop.
template <ReduceOp op, typename E, typename W>
W exchange_element(W* target, const void* origin) noexcept
{
    constexpr bool whole = E::kind != Kind::pair;
    if constexpr (op == ReduceOp::no_op) {
        return __atomic_load_n(target, __ATOMIC_SEQ_CST);
    } else {
        const auto value = E::load(origin);
        W word = 0;
        E::store(&word, value);
        if constexpr (takes_bits<op> && whole) {
            return exchange_bits<op>(target, word);
        } else if constexpr (op == ReduceOp::sum && E::kind == Kind::integer) {
            return __atomic_fetch_add(target, word, __ATOMIC_SEQ_CST);
        } else {
            return compare_and_swap_loop<op, E>(target, value);
        }
    }
}

/// Replaces the elements that lie in one word of 8 bytes by their combinations; returns the old
/// ones.
template <ReduceOp op, typename E>
std::uint64_t exchange_elements(std::uint64_t* target, const std::byte* origin) noexcept
{
    using T = typename E::Type;
    using Elements = std::array<T, sizeof(std::uint64_t) / sizeof(T)>;
    std::uint64_t word = 0;
    if constexpr (op == ReduceOp::no_op) {
        return __atomic_load_n(target, __ATOMIC_SEQ_CST);
    } else {
        std::memcpy(&word, origin, sizeof word);
    }
    if constexpr (takes_bits<op>) {
        return exchange_bits<op>(target, word);
    }
    const auto theirs = std::bit_cast<Elements>(word);
    std::uint64_t old = __atomic_load_n(target, __ATOMIC_RELAXED);
    std::uint64_t next = 0;
    do {
        auto values = std::bit_cast<Elements>(old);
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = combined<op, E>(values[i], theirs[i]);
        }
        next = std::bit_cast<std::uint64_t>(values);
    } while (
        !__atomic_compare_exchange_n(target, &old, next, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return old;
}

/// Elements of which several lie in a word, and which fill it.
template <Basic basic>
constexpr bool
    fill_words = mixed_widths_are_atomic&& shape_of(basic).atomic < 8 && fills_rows<basic>();

/// A row whose words are done at once: a byte takes an eighth of the time. Moves `at` to what is
/// left, and returns how many elements that are.
template <ReduceOp op, Basic basic>
std::size_t exchange_words(Places& at, std::size_t elements) noexcept
{
    constexpr std::size_t width = sizeof(std::uint64_t);
    constexpr std::size_t lanes = width / shape_of(basic).extent;
    for (; elements >= lanes; elements -= lanes, at.advance(width)) {
        auto* word = reinterpret_cast<std::uint64_t*>(at.target);
        const std::uint64_t old = exchange_elements<op, Element<basic>>(word, at.origin);
        if (at.result != nullptr) {
            std::memcpy(at.result, &old, width);
        }
    }
    return elements;
}

template <ReduceOp op, Basic basic>
void exchange_row(Places& at, std::size_t elements) noexcept
{
    using E = Element<basic>;
    using W = Word<shape_of(basic).atomic>;
    constexpr std::size_t extent = shape_of(basic).extent;
    static_assert(sizeof(W) == extent);
    if (at.result == nullptr) {
        // Apart from the other loop, because the processor adds faster when nobody asks for the
        // old value.
        for (; elements > 0; --elements, at.advance(extent)) {
            exchange_element<op, E>(reinterpret_cast<W*>(at.target), at.origin);
        }
    } else {
        for (; elements > 0; --elements, at.advance(extent)) {
            const W old = exchange_element<op, E>(reinterpret_cast<W*>(at.target), at.origin);
            E::store(at.result, E::load(&old));
        }
    }
}

template <ReduceOp op, Basic basic>
void atomic_kernel(void* target, const void* origin, void* result, std::size_t elements) noexcept
{
    Places at(target, origin, result);
    if constexpr (fill_words<basic>) {
        constexpr std::size_t width = sizeof(std::uint64_t);
        if (elements >= width / shape_of(basic).extent) {
            const std::size_t ahead = -reinterpret_cast<std::uintptr_t>(target) % width;
            exchange_row<op, basic>(at, ahead / shape_of(basic).extent);
            elements = exchange_words<op, basic>(at, elements - ahead / shape_of(basic).extent);
        }
    }
    exchange_row<op, basic>(at, elements);
    if constexpr (op == ReduceOp::no_op) {
        full_barrier(); // a load does not order the stores before it, as the other operations do
    }
}

template <ReduceOp op, Basic basic>
constexpr Reduction entry() noexcept
{
    Reduction kernels{};
    if constexpr (allowed(op, Element<basic>::kind)) {
        kernels.plain = &plain_kernel<op, basic>;
        if constexpr (shape_of(basic).atomic != 0) {
            kernels.atomic = &atomic_kernel<op, basic>;
        }
        if constexpr (fills_rows<basic>() && gains_by_wide_vectors(op, basic)) {
            kernels.wide = &wide_kernel<op, basic>;
        }
        if constexpr (fills_rows<basic>() && gains_by_widest_vectors(op, basic)) {
            kernels.widest = &widest_kernel<op, basic>;
        }
    }
    return kernels;
}

using Row = std::array<Reduction, datatype::basic_count>;

template <ReduceOp op, std::size_t... basics>
constexpr Row row(std::index_sequence<basics...>) noexcept
{
    return {entry<op, static_cast<Basic>(basics)>()...};
}

template <std::size_t... ops>
constexpr std::array<Row, op_count> all_rows(std::index_sequence<ops...>) noexcept
{
    return {row<static_cast<ReduceOp>(ops)>(std::make_index_sequence<datatype::basic_count>{})...};
}

constexpr std::array<Row, op_count> table = all_rows(std::make_index_sequence<op_count>{});

template <std::size_t... basics>
constexpr auto all_kinds(std::index_sequence<basics...>) noexcept
{
    return std::array{Element<static_cast<Basic>(basics)>::kind...};
}

constexpr auto kinds = all_kinds(std::make_index_sequence<datatype::basic_count>{});

} // namespace

const Reduction& reduction(ReduceOp op, Basic basic) noexcept
{
    return table[static_cast<std::size_t>(op)][static_cast<std::size_t>(basic)];
}

bool can_compare_and_swap(Basic basic) noexcept
{
    const Kind kind = kinds[static_cast<std::size_t>(basic)];
    return kind == Kind::integer || kind == Kind::logical || kind == Kind::byte;
}

} // namespace sidelight::rma
