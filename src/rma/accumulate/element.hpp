// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "datatype/basic.hpp"

namespace sidelight::rma {

/// The C++ type of each Basic, for the arithmetic of reductions.

/// What MPI-4.1, 6.9.2 lets an operation do with a type.
enum class Kind : std::uint8_t { none, byte, character, integer, real, complex, logical, pair };

__extension__ using Int128 = __int128;
__extension__ using UnsignedInt128 = unsigned __int128;
#ifdef __SIZEOF_FLOAT128__
__extension__ using Float128 = __float128;
#else
using Float128 = long double;
#endif
#ifdef __FLT16_MANT_DIG__
__extension__ using Float16 = _Float16;
inline constexpr bool has_float16 = true;
#else // GCC 11 and Clang 14 have no such type: not reduced there
using Float16 = float;
inline constexpr bool has_float16 = false;
#endif

template <typename T>
struct Complex {
    T real;
    T imaginary;
};

template <typename Value, typename Index>
struct Pair {
    Value value;
    Index index;
};

template <typename T, Kind k>
struct Scalar {
    using Type = T;
    static constexpr Kind kind = k;
    static Type load(const void* memory) noexcept
    {
        Type value;
        std::memcpy(&value, memory, sizeof value);
        return value;
    }
    static void store(void* memory, const Type& value) noexcept
    {
        std::memcpy(memory, &value, sizeof value);
    }
};

/// The x87's numbers are loaded and stored where they are, at any alignment: a copy of their 16
/// bytes reads what has just been written in parts, for which the processor waits. What pads them
/// stays.
template <Kind k>
struct Scalar<long double, k> {
    using Type = long double;
    using InPlace [[gnu::may_alias, gnu::aligned(1)]] = long double;
    static constexpr Kind kind = k;
    static Type load(const void* memory) noexcept { return *static_cast<const InPlace*>(memory); }
    static void store(void* memory, const Type& value) noexcept
    {
        *static_cast<InPlace*>(memory) = value;
    }
};

/// Reads and writes the two members apart: what lies between and behind them may be another's.
template <typename Value, typename Index>
struct PairOf {
    using Type = Pair<Value, Index>;
    static constexpr Kind kind = Kind::pair;
    static constexpr std::size_t index_offset = offsetof(Type, index);
    static Type load(const void* memory) noexcept
    {
        Type pair;
        std::memcpy(&pair.value, memory, sizeof pair.value);
        std::memcpy(&pair.index, static_cast<const std::byte*>(memory) + index_offset,
                    sizeof pair.index);
        return pair;
    }
    static void store(void* memory, const Type& pair) noexcept
    {
        std::memcpy(memory, &pair.value, sizeof pair.value);
        std::memcpy(static_cast<std::byte*>(memory) + index_offset, &pair.index, sizeof pair.index);
    }
};

template <typename T>
using Integer = Scalar<T, Kind::integer>;
template <typename T>
using Real = Scalar<T, Kind::real>;
template <typename T>
using ComplexOf = Scalar<Complex<T>, Kind::complex>;
template <typename T>
using Logical = Scalar<T, Kind::logical>;
template <typename T>
using Character = Scalar<T, Kind::character>;

/// Basic::none has no representation.
struct Unknown {
    static constexpr Kind kind = Kind::none;
};

template <datatype::Basic>
struct Element : Unknown {};

// clang-format off
template <> struct Element<datatype::Basic::byte> : Scalar<std::uint8_t, Kind::byte> {};
template <> struct Element<datatype::Basic::i8> : Integer<std::int8_t> {};
template <> struct Element<datatype::Basic::i16> : Integer<std::int16_t> {};
template <> struct Element<datatype::Basic::i32> : Integer<std::int32_t> {};
template <> struct Element<datatype::Basic::i64> : Integer<std::int64_t> {};
template <> struct Element<datatype::Basic::i128> : Integer<Int128> {};
template <> struct Element<datatype::Basic::u8> : Integer<std::uint8_t> {};
template <> struct Element<datatype::Basic::u16> : Integer<std::uint16_t> {};
template <> struct Element<datatype::Basic::u32> : Integer<std::uint32_t> {};
template <> struct Element<datatype::Basic::u64> : Integer<std::uint64_t> {};
template <> struct Element<datatype::Basic::f32> : Real<float> {};
template <> struct Element<datatype::Basic::f64> : Real<double> {};
template <> struct Element<datatype::Basic::f80> : Real<long double> {};
template <> struct Element<datatype::Basic::f128> : Real<Float128> {};
template <> struct Element<datatype::Basic::c32> : ComplexOf<float> {};
template <> struct Element<datatype::Basic::c64> : ComplexOf<double> {};
template <> struct Element<datatype::Basic::c80> : ComplexOf<long double> {};
template <> struct Element<datatype::Basic::c128> : ComplexOf<Float128> {};
template <> struct Element<datatype::Basic::logical8> : Logical<std::uint8_t> {};
template <> struct Element<datatype::Basic::logical16> : Logical<std::uint16_t> {};
template <> struct Element<datatype::Basic::logical32> : Logical<std::uint32_t> {};
template <> struct Element<datatype::Basic::logical64> : Logical<std::uint64_t> {};
template <> struct Element<datatype::Basic::logical128> : Logical<UnsignedInt128> {};
template <> struct Element<datatype::Basic::char8> : Character<std::uint8_t> {};
template <> struct Element<datatype::Basic::char32> : Character<std::uint32_t> {};
template <> struct Element<datatype::Basic::f32_i32> : PairOf<float, std::int32_t> {};
template <> struct Element<datatype::Basic::f64_i32> : PairOf<double, std::int32_t> {};
template <> struct Element<datatype::Basic::i64_i32> : PairOf<std::int64_t, std::int32_t> {};
template <> struct Element<datatype::Basic::i32_i32> : PairOf<std::int32_t, std::int32_t> {};
template <> struct Element<datatype::Basic::i16_i32> : PairOf<std::int16_t, std::int32_t> {};
template <> struct Element<datatype::Basic::f80_i32> : PairOf<long double, std::int32_t> {};
template <> struct Element<datatype::Basic::f32_f32> : PairOf<float, float> {};
template <> struct Element<datatype::Basic::f64_f64> : PairOf<double, double> {};
// clang-format on
template <>
struct Element<datatype::Basic::f16> : std::conditional_t<has_float16, Real<Float16>, Unknown> {};
template <>
struct Element<datatype::Basic::c16>
    : std::conditional_t<has_float16, ComplexOf<Float16>, Unknown> {};

} // namespace sidelight::rma
