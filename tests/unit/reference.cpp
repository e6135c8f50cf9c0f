// SPDX-License-Identifier: BSD-3-Clause
#include "unit/reference.hpp"

#include <algorithm>
#include <cstring>

namespace sidelight::unit {
namespace {

using datatype::Basic;
using datatype::shape_of;
using rma::Int128;
using rma::Kind;
using rma::ReduceOp;
using rma::UnsignedInt128;

/// Bytes of the first member of a pair or complex, or of the whole; and where the second one is.
struct Members {
    std::size_t first;
    std::size_t second_offset;
    std::size_t second;
};

Members members_of(Basic basic) noexcept
{
    switch (basic) {
    case Basic::f32_i32:
    case Basic::i32_i32:
    case Basic::f32_f32:
        return {4, 4, 4};
    case Basic::f64_i32:
    case Basic::i64_i32:
        return {8, 8, 4};
    case Basic::i16_i32:
        return {2, 4, 4};
    case Basic::f80_i32:
        return {16, 16, 4};
    case Basic::f64_f64:
        return {8, 8, 8};
    default:
        break;
    }
    const std::size_t size = shape_of(basic).size;
    if (kind_of(basic) == Kind::complex) {
        return {size / 2, size / 2, size / 2};
    }
    return {size, size, 0};
}

bool is_signed(Basic basic) noexcept
{
    return kind_of(basic) == Kind::pair || (basic >= Basic::i8 && basic <= Basic::i128);
}

bool has_integer(Basic basic) noexcept
{
    const Kind kind = kind_of(basic);
    if (kind == Kind::pair) {
        return basic == Basic::i64_i32 || basic == Basic::i32_i32 || basic == Basic::i16_i32;
    }
    return kind != Kind::real && kind != Kind::complex;
}

bool has_long_double(Basic basic) noexcept
{
    return basic == Basic::f80 || basic == Basic::c80 || basic == Basic::f80_i32;
}

Int128 integer_at(const std::byte* memory, std::size_t size, bool with_sign) noexcept
{
    UnsignedInt128 bits = 0;
    std::memcpy(&bits, memory, size); // little-endian, as all that this library runs on
    const auto unused = static_cast<unsigned>(128 - 8 * size);
    return with_sign ? static_cast<Int128>(bits << unused) >> unused : static_cast<Int128>(bits);
}

template <typename T>
long double load(const std::byte* memory) noexcept
{
    T value;
    std::memcpy(&value, memory, sizeof value);
    return static_cast<long double>(value);
}

template <typename T>
void store(std::byte* memory, long double number) noexcept
{
    const auto value = static_cast<T>(number);
    std::memcpy(memory, &value, sizeof value);
}

long double real_at(const std::byte* memory, std::size_t size, bool is_long_double) noexcept
{
    switch (size) {
    case 2:
        return load<rma::Float16>(memory);
    case 4:
        return load<float>(memory);
    case 8:
        return load<double>(memory);
    default:
        return is_long_double ? load<long double>(memory) : load<rma::Float128>(memory);
    }
}

void set_real(std::byte* memory, std::size_t size, bool is_long_double, long double number) noexcept
{
    switch (size) {
    case 2:
        return store<rma::Float16>(memory, number);
    case 4:
        return store<float>(memory, number);
    case 8:
        return store<double>(memory, number);
    default:
        return is_long_double ? store<long double>(memory, number)
                              : store<rma::Float128>(memory, number);
    }
}

bool index_is_real(Basic basic) noexcept
{
    return kind_of(basic) == Kind::complex || basic == Basic::f32_f32 || basic == Basic::f64_f64;
}

/// Whether the origin's pair takes the target's place.
bool better(ReduceOp op, const Value& origin, const Value& target) noexcept
{
    const bool less = origin.integer < target.integer || origin.real < target.real;
    const bool more = origin.integer > target.integer || origin.real > target.real;
    if (!less && !more) {
        return origin.other < target.other;
    }
    return op == ReduceOp::minloc ? less : more;
}

Int128 wrapped(ReduceOp op, Int128 a, Int128 b) noexcept
{
    const auto x = static_cast<UnsignedInt128>(a);
    const auto y = static_cast<UnsignedInt128>(b);
    return static_cast<Int128>(op == ReduceOp::sum ? x + y : x * y);
}

Value arithmetic(ReduceOp op, const Value& a, const Value& b) noexcept
{
    if (op == ReduceOp::sum) {
        return {wrapped(op, a.integer, b.integer), a.real + b.real, a.other + b.other};
    }
    return {wrapped(op, a.integer, b.integer), a.real * b.real - a.other * b.other,
            a.real * b.other + a.other * b.real};
}

Value combined(ReduceOp op, const Value& a, const Value& b) noexcept
{
    const bool x = a.integer != 0;
    const bool y = b.integer != 0;
    switch (op) {
    case ReduceOp::sum:
    case ReduceOp::prod:
        return arithmetic(op, a, b);
    case ReduceOp::max:
        return {std::max(a.integer, b.integer), std::max(a.real, b.real), 0};
    case ReduceOp::min:
        return {std::min(a.integer, b.integer), std::min(a.real, b.real), 0};
    case ReduceOp::land:
        return {.integer = x && y};
    case ReduceOp::lor:
        return {.integer = x || y};
    case ReduceOp::lxor:
        return {.integer = x != y};
    case ReduceOp::band:
        return {.integer = a.integer & b.integer};
    case ReduceOp::bor:
        return {.integer = a.integer | b.integer};
    case ReduceOp::bxor:
        return {.integer = a.integer ^ b.integer};
    case ReduceOp::maxloc:
    case ReduceOp::minloc:
        return better(op, b, a) ? b : a;
    case ReduceOp::replace:
        return b;
    default:
        return a;
    }
}

} // namespace

Kind kind_of(Basic basic) noexcept
{
    const auto within = [basic](Basic first, Basic last) {
        return basic >= first && basic <= last;
    };
    if (basic == Basic::none || basic == Basic::byte) {
        return basic == Basic::none ? Kind::none : Kind::byte;
    }
    if (!rma::has_float16 && (basic == Basic::f16 || basic == Basic::c16)) {
        return Kind::none;
    }
    return within(Basic::i8, Basic::u64)                ? Kind::integer
           : within(Basic::f16, Basic::f128)            ? Kind::real
           : within(Basic::c16, Basic::c128)            ? Kind::complex
           : within(Basic::logical8, Basic::logical128) ? Kind::logical
           : within(Basic::char8, Basic::char32)        ? Kind::character
                                                        : Kind::pair;
}

bool is_allowed(ReduceOp op, Basic basic) noexcept
{
    // One letter per Kind: none, byte, character, integer, real, complex, logical, pair.
    constexpr const char* allowed[] = {
        "---irc--", "---irc--", "---ir---", "---ir---", // sum prod max min
        "---i--l-", "---i--l-", "---i--l-",             // land lor lxor
        "-b-i----", "-b-i----", "-b-i----",             // band bor bxor
        "-------p", "-------p", "-bcirclp", "-bcirclp", // maxloc minloc replace no_op
    };
    return allowed[static_cast<int>(op)][static_cast<int>(kind_of(basic))] != '-';
}

Value decode(Basic basic, const std::byte* memory) noexcept
{
    const Members members = members_of(basic);
    const std::byte* second = memory + members.second_offset;
    Value value;
    if (has_integer(basic)) {
        value.integer = integer_at(memory, members.first, is_signed(basic));
    } else {
        value.real = real_at(memory, members.first, has_long_double(basic));
    }
    if (members.second > 0) {
        value.other = index_is_real(basic)
                          ? real_at(second, members.second, has_long_double(basic))
                          : static_cast<long double>(integer_at(second, members.second, true));
    }
    return value;
}

void encode(Basic basic, const Value& value, std::byte* memory) noexcept
{
    const Members members = members_of(basic);
    std::byte* second = memory + members.second_offset;
    if (has_integer(basic)) {
        std::memcpy(memory, &value.integer, members.first);
    } else {
        set_real(memory, members.first, has_long_double(basic), value.real);
    }
    if (members.second > 0 && index_is_real(basic)) {
        set_real(second, members.second, has_long_double(basic), value.other);
    } else if (members.second > 0) {
        const auto index = static_cast<std::int32_t>(value.other);
        std::memcpy(second, &index, sizeof index);
    }
}

void combine_reference(ReduceOp op, Basic basic, std::byte* target,
                       const std::byte* origin) noexcept
{
    if (op != ReduceOp::no_op) {
        encode(basic, combined(op, decode(basic, target), decode(basic, origin)), target);
    }
}

void fill(fabric::sim::Random& random, Basic basic, std::byte* memory,
          std::size_t elements) noexcept
{
    const Kind kind = kind_of(basic);
    for (; elements > 0; --elements, memory += shape_of(basic).extent) {
        Value value;
        if (kind == Kind::pair || kind == Kind::logical) {
            value.integer = random.between(kind == Kind::pair ? -3 : 0, 3); // often equal
        } else {
            value.integer = static_cast<Int128>((static_cast<UnsignedInt128>(random.next()) << 64) |
                                                random.next());
        }
        value.real = random.between(-4, 4);
        value.other = random.between(-4, 4);
        encode(basic, value, memory);
    }
}

void clear_padding(Basic basic, std::byte* memory) noexcept
{
    if (!has_long_double(basic)) {
        return;
    }
    std::memset(memory + 10, 0, 6);
    if (basic == Basic::c80) {
        std::memset(memory + 26, 0, 6);
    }
}

} // namespace sidelight::unit
