// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sidelight::datatype {

// clang-format off
/// The representation of one element in memory, as accumulates see it. Several MPI datatypes share
/// one Basic (MPI_INT and MPI_INT32_T, for instance).
enum class Basic : std::uint8_t {
    none, ///< more than one basic type, or one that no reduction takes
    byte, ///< MPI_BYTE, MPI_PACKED: bitwise operations only
    i8, i16, i32, i64, i128,
    u8, u16, u32, u64,
    f16, f32, f64, f80, f128,                              ///< f80 is long double
    c16, c32, c64, c80, c128,                              ///< complex of the float of that name
    logical8, logical16, logical32, logical64, logical128, ///< C bool, Fortran LOGICAL
    char8, char32,                                         ///< MPI_REPLACE and MPI_NO_OP only
    f32_i32, f64_i32, i64_i32, i32_i32, i16_i32, f80_i32,  ///< pairs of MPI_MINLOC and MPI_MAXLOC
    f32_f32, f64_f64,                                      ///< the same from Fortran
    count_
};
// clang-format on

/// What a Basic occupies. `atomic` is the width of the one machine access that reads or writes all
/// of it when it is aligned to that width, 0 when there is none.
struct BasicShape {
    std::uint8_t size;   ///< bytes of data; less than the extent where there are holes
    std::uint8_t extent; ///< bytes from one element to the next
    std::uint8_t atomic;

    [[nodiscard]] constexpr bool has_holes() const noexcept { return size != extent; }
};

inline constexpr std::size_t basic_count = static_cast<std::size_t>(Basic::count_);

// clang-format off
inline constexpr std::array<BasicShape, basic_count> basic_shapes{{
    {0, 0, 0}, {1, 1, 1},                                                  // none, byte
    {1, 1, 1}, {2, 2, 2}, {4, 4, 4}, {8, 8, 8}, {16, 16, 0},               // i8 .. i128
    {1, 1, 1}, {2, 2, 2}, {4, 4, 4}, {8, 8, 8},                            // u8 .. u64
    {2, 2, 2}, {4, 4, 4}, {8, 8, 8}, {16, 16, 0}, {16, 16, 0},             // f16 .. f128
    {4, 4, 4}, {8, 8, 8}, {16, 16, 0}, {32, 32, 0}, {32, 32, 0},           // c16 .. c128
    {1, 1, 1}, {2, 2, 2}, {4, 4, 4}, {8, 8, 8}, {16, 16, 0},               // logical
    {1, 1, 1}, {4, 4, 4},                                                  // char
    {8, 8, 8}, {12, 16, 0}, {12, 16, 0}, {8, 8, 8}, {6, 8, 8}, {20, 32, 0}, // pairs
    {8, 8, 8}, {16, 16, 0},
}};
// clang-format on

[[nodiscard]] constexpr BasicShape shape_of(Basic basic) noexcept
{
    return basic_shapes[static_cast<std::size_t>(basic)];
}

} // namespace sidelight::datatype
