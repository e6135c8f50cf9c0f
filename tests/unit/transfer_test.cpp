// SPDX-License-Identifier: BSD-3-Clause
#include "rma/accumulate/transfer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>

#include "datatype/basic_layout.hpp"
#include "unit/reference.hpp"
#include "unit/type_map.hpp"

namespace sidelight::unit {
namespace {

using datatype::Basic;
using datatype::basic_layout;
using datatype::Buffer;
using rma::AtomicityLocks;
using rma::Direction;
using rma::ReduceOp;

/// One side of an operation: a type, a count, memory.
struct Side {
    Type type;
    std::size_t count;
    TypeMap all;
    Arena arena;

    Side(Random& random, Type drawn, std::size_t times)
        : type(std::move(drawn)),
          count(times),
          all(type.map.times(times)),
          arena(type.map, times, random.chance(50) ? 0 : random.below(16), random)
    {}
    [[nodiscard]] Buffer buffer() { return {arena.base(), type.layout.get(), count}; }
    [[nodiscard]] std::size_t bytes() const { return all.bytes.size(); }
};

Side draw_side(Random& random, Basic basic)
{
    const std::size_t count = random.below(4);
    Type type = draw_target_type(random, basic, count);
    return {random, std::move(type), count};
}

/// A side with at least `least` elements.
Side draw_side(Random& random, Basic basic, std::size_t least)
{
    for (;;) {
        const std::size_t count = 1 + random.below(6);
        Type type = draw_type(random, basic);
        if (type.map.elements.size() * count >= least && !type.map.times(count).overlaps()) {
            return {random, std::move(type), count};
        }
    }
}

void expect_transfer(std::uint64_t seed, Direction direction)
{
    Random random(seed);
    Side origin = draw_side(random, Basic::none);
    Side target = draw_side(random, Basic::none);
    Side& from = direction == Direction::put ? origin : target;
    Side& to = direction == Direction::put ? target : origin;
    Arena expected = to.arena;
    const Arena untouched = from.arena;
    const bool fits = from.bytes() <= to.bytes();
    for (std::size_t i = 0; fits && i < from.bytes(); ++i) {
        *expected.at(to.all.bytes[i]) = *from.arena.at(from.all.bytes[i]);
    }
    EXPECT_EQ(rma::transfer(direction, origin.buffer(), target.buffer()),
              fits ? Status::ok : Status::count);
    EXPECT_TRUE(to.arena == expected);
    EXPECT_TRUE(from.arena == untouched);
}

TEST(Transfer, PutsAndGetsBetweenRandomTypes)
{
    for (std::uint64_t seed = 0; seed < 4000; ++seed) {
        SCOPED_TRACE(seed);
        expect_transfer(seed, seed % 2 == 0 ? Direction::put : Direction::get);
        ASSERT_FALSE(HasFailure());
    }
}

void clear_paddings(const Side& side, Basic basic, Arena& arena)
{
    for (const std::ptrdiff_t element : side.all.elements) {
        clear_padding(basic, arena.at(element));
    }
}

/// Elements need values that a reduction of their type is exact for.
void fill_elements(Random& random, Basic basic, Side& side)
{
    for (const std::ptrdiff_t element : side.all.elements) {
        fill(random, basic, side.arena.at(element), 1);
    }
}

struct Case {
    ReduceOp op;
    Basic basic;
    bool fetch;
};

Case draw_case(Random& random)
{
    for (;;) {
        const auto op =
            static_cast<ReduceOp>(random.below(static_cast<std::uint64_t>(ReduceOp::count_)));
        const Basic basic = draw_basic(random);
        if (is_allowed(op, basic)) {
            return {op, basic, op == ReduceOp::no_op || random.chance(50)};
        }
    }
}

/// The three sides of a get_accumulate. With no_op the target says how much there is.
struct Sides {
    Side origin;
    Side target;
    Side result;

    static Sides draw(Random& random, const Case& chosen)
    {
        Side origin = draw_side(random, chosen.basic);
        Side target = draw_side(random, chosen.basic, origin.all.elements.size());
        const bool all = chosen.op == ReduceOp::no_op;
        const std::size_t elements = all ? target.all.elements.size() : origin.all.elements.size();
        Side result = draw_side(random, chosen.basic, elements);
        return {std::move(origin), std::move(target), std::move(result)};
    }
};

void expect_accumulate(std::uint64_t seed, AtomicityLocks& locks)
{
    Random random(seed);
    const Case chosen = draw_case(random);
    const auto [op, basic, fetch] = chosen;
    auto [origin, target, result] = Sides::draw(random, chosen);
    fill_elements(random, basic, origin);
    fill_elements(random, basic, target);
    fill_elements(random, basic, result);
    Arena expected = target.arena;
    Arena expected_result = result.arena;
    const Side& counted = op == ReduceOp::no_op ? target : origin;
    for (std::size_t i = 0; i < counted.all.elements.size(); ++i) {
        std::byte* element = expected.at(target.all.elements[i]);
        if (fetch) {
            encode(basic, decode(basic, element), expected_result.at(result.all.elements[i]));
        }
        const bool reads = op != ReduceOp::no_op;
        combine_reference(op, basic, element,
                          reads ? origin.arena.at(origin.all.elements[i]) : nullptr);
    }
    EXPECT_EQ(
        fetch ? rma::get_accumulate(op, origin.buffer(), result.buffer(), target.buffer(), locks)
              : rma::accumulate(op, origin.buffer(), target.buffer(), locks),
        Status::ok);
    clear_paddings(target, basic, target.arena);
    clear_paddings(target, basic, expected);
    clear_paddings(result, basic, result.arena);
    clear_paddings(result, basic, expected_result);
    EXPECT_TRUE(target.arena == expected);
    EXPECT_TRUE(result.arena == expected_result);
}

TEST(Accumulate, CombinesElementsOfRandomTypes)
{
    const auto locks = std::make_unique<AtomicityLocks>();
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        SCOPED_TRACE(seed);
        expect_accumulate(seed, *locks);
        ASSERT_FALSE(HasFailure());
    }
}

class Refusal : public testing::Test {
protected:
    static Buffer one(std::int64_t& word, Basic basic) { return {&word, &basic_layout(basic), 1}; }
    void expect_untouched() const
    {
        EXPECT_EQ(target_, 5);
        EXPECT_EQ(result_, 7);
    }

    std::unique_ptr<AtomicityLocks> locks_ = std::make_unique<AtomicityLocks>();
    std::int64_t origin_ = 3;
    std::int64_t target_ = 5;
    std::int64_t result_ = 7;
};

TEST_F(Refusal, OfTypesThatDiffer)
{
    const Buffer origin = one(origin_, Basic::i64);
    const Buffer target = one(target_, Basic::i64);
    EXPECT_EQ(rma::accumulate(ReduceOp::sum, one(origin_, Basic::u64), target, *locks_),
              Status::type);
    EXPECT_EQ(rma::get_accumulate(ReduceOp::sum, origin, one(result_, Basic::f64), target, *locks_),
              Status::type);
    EXPECT_EQ(rma::get_accumulate(ReduceOp::no_op, {}, one(result_, Basic::f64), target, *locks_),
              Status::type);
    expect_untouched();
}

TEST_F(Refusal, OfTypesThatAreMissing)
{
    const Buffer origin = one(origin_, Basic::i64);
    const Buffer target = one(target_, Basic::i64);
    const Buffer result = one(result_, Basic::i64);
    EXPECT_EQ(rma::transfer(Direction::put, {}, target), Status::type);
    EXPECT_EQ(rma::transfer(Direction::get, origin, {}), Status::type);
    EXPECT_EQ(rma::accumulate(ReduceOp::sum, {}, target, *locks_), Status::type);
    EXPECT_EQ(rma::accumulate(ReduceOp::sum, origin, {}, *locks_), Status::type);
    EXPECT_EQ(rma::get_accumulate(ReduceOp::sum, {}, result, target, *locks_), Status::type);
    EXPECT_EQ(rma::get_accumulate(ReduceOp::sum, origin, {}, target, *locks_), Status::type);
    EXPECT_EQ(rma::get_accumulate(ReduceOp::no_op, origin, result, {}, *locks_), Status::type);
    expect_untouched();
}

TEST_F(Refusal, OfOperationsThatTheTypeDoesNotHave)
{
    const Buffer origin = one(origin_, Basic::f64);
    const Buffer target = one(target_, Basic::f64);
    EXPECT_EQ(rma::accumulate(ReduceOp::bxor, origin, target, *locks_), Status::op);
    EXPECT_EQ(rma::accumulate(ReduceOp::maxloc, origin, target, *locks_), Status::op);
    EXPECT_EQ(
        rma::get_accumulate(ReduceOp::land, origin, one(result_, Basic::f64), target, *locks_),
        Status::op);
    expect_untouched();
}

TEST_F(Refusal, OfMoreThanFits)
{
    std::array<std::int64_t, 2> two{1, 2};
    const Buffer pair{two.data(), &basic_layout(Basic::i64), 2};
    const Buffer target = one(target_, Basic::i64);
    const Buffer result = one(result_, Basic::i64);
    EXPECT_EQ(rma::transfer(Direction::put, pair, target), Status::count);
    EXPECT_EQ(rma::accumulate(ReduceOp::sum, pair, target, *locks_), Status::count);
    EXPECT_EQ(rma::get_accumulate(ReduceOp::sum, pair, pair, target, *locks_), Status::count);
    EXPECT_EQ(rma::get_accumulate(ReduceOp::sum, pair, result, pair, *locks_), Status::count);
    expect_untouched();
    EXPECT_EQ(two, (std::array<std::int64_t, 2>{1, 2}));
}

TEST_F(Refusal, OfCompareAndSwapOnReals)
{
    const std::int64_t compare = 5;
    EXPECT_EQ(rma::compare_and_swap(&origin_, &compare, &result_, &basic_layout(Basic::f64),
                                    &target_, *locks_),
              Status::type);
    EXPECT_EQ(rma::compare_and_swap(&origin_, &compare, &result_, nullptr, &target_, *locks_),
              Status::type);
    expect_untouched();
}

void expect_compare_and_swap(Basic basic, std::size_t shift, bool equal, AtomicityLocks& locks)
{
    alignas(16) std::array<std::byte, 64> memory{};
    Random random(shift + (equal ? 100 : 0));
    const std::size_t size = datatype::shape_of(basic).size;
    std::array<std::byte, 16> origin{};
    std::array<std::byte, 16> compare{};
    std::array<std::byte, 16> result{};
    for (std::array<std::byte, 16>* value : {&origin, &compare}) {
        for (std::byte& byte : *value) {
            byte = static_cast<std::byte>(random.next());
        }
    }
    std::byte* target = memory.data() + shift;
    std::memcpy(target, compare.data(), size);
    if (!equal) {
        target[size - 1] ^= std::byte{0x80}; // the last byte decides
    }
    std::array<std::byte, 64> expected = memory;
    if (equal) {
        std::memcpy(expected.data() + shift, origin.data(), size);
    }
    std::array<std::byte, 16> old{};
    std::memcpy(old.data(), target, size);
    EXPECT_EQ(rma::compare_and_swap(origin.data(), compare.data(), result.data(),
                                    &basic_layout(basic), target, locks),
              Status::ok);
    EXPECT_EQ(memory, expected);
    EXPECT_EQ(result, old);
}

TEST(CompareAndSwap, SwapsWhatIsEqualAtAnyAlignment)
{
    const auto locks = std::make_unique<AtomicityLocks>();
    for (std::size_t i = 0; i < datatype::basic_count; ++i) {
        for (std::size_t shift = 0; shift < 32; ++shift) {
            SCOPED_TRACE(std::to_string(i) + " at " + std::to_string(shift));
            const auto basic = static_cast<Basic>(i);
            if (rma::can_compare_and_swap(basic)) {
                expect_compare_and_swap(basic, shift, shift % 2 == 0, *locks);
                expect_compare_and_swap(basic, shift, shift % 2 == 1, *locks);
            }
        }
    }
}

} // namespace
} // namespace sidelight::unit
