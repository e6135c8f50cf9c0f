// SPDX-License-Identifier: BSD-3-Clause
#include "rma/accumulate/reduction.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "unit/reference.hpp"

namespace sidelight::unit {
namespace {

using datatype::Basic;
using datatype::shape_of;
using fabric::sim::Random;
using rma::ReduceOp;
using rma::reduction;
using rma::ReductionKernel;

constexpr std::size_t elements = 30; // of the smallest ones, three words and some on both sides
constexpr std::size_t most_bytes = 32 * (elements + 1);

/// Room for more elements than are worked on, with a byte that shows in every hole.
struct Row {
    alignas(64) std::array<std::byte, most_bytes> bytes{};

    explicit Row(std::uint8_t filler) { bytes.fill(static_cast<std::byte>(filler)); }
    void clear_padding_of(Basic basic)
    {
        for (std::size_t i = 0; i <= elements; ++i) {
            clear_padding(basic, bytes.data() + i * shape_of(basic).extent);
        }
    }
    friend bool operator==(const Row& a, const Row& b) { return a.bytes == b.bytes; }
};

template <typename Body>
void for_each_combination(Body body)
{
    for (std::size_t op = 0; op < static_cast<std::size_t>(ReduceOp::count_); ++op) {
        for (std::size_t basic = 0; basic < datatype::basic_count; ++basic) {
            SCOPED_TRACE("operation " + std::to_string(op) + ", type " + std::to_string(basic));
            body(static_cast<ReduceOp>(op), static_cast<Basic>(basic));
        }
    }
}

TEST(Reduction, AllowsWhatMpiAllows)
{
    int allowed = 0;
    for_each_combination([&](ReduceOp op, Basic basic) {
        const bool expected = is_allowed(op, basic);
        const bool atomic = expected && shape_of(basic).atomic != 0;
        EXPECT_EQ(reduction(op, basic).plain != nullptr, expected);
        EXPECT_EQ(reduction(op, basic).atomic != nullptr, atomic);
        allowed += expected;
    });
    EXPECT_GT(allowed, 200);
}

void expect_kernel(ReductionKernel* kernel, ReduceOp op, Basic basic, std::uint64_t seed)
{
    Random random(seed);
    Row target(0xa5);
    Row origin(0x5a);
    Row result(0x3c);
    fill(random, basic, target.bytes.data(), elements + 1);
    fill(random, basic, origin.bytes.data(), elements + 1);
    Row expected = target;
    Row expected_result = result;
    const std::size_t first = random.below(9);
    const std::size_t last = first + random.below(elements + 1 - first);
    for (std::size_t i = first; i < last; ++i) {
        const std::size_t at = i * shape_of(basic).extent;
        encode(basic, decode(basic, &target.bytes[at]), &expected_result.bytes[at]);
        combine_reference(op, basic, &expected.bytes[at], &origin.bytes[at]);
    }
    const bool fetch = random.chance(50);
    const bool reads = op != ReduceOp::no_op;
    const std::size_t start = first * shape_of(basic).extent;
    kernel(&target.bytes[start], reads ? &origin.bytes[start] : nullptr,
           fetch ? &result.bytes[start] : nullptr, last - first);
    for (Row* row : {&target, &result, &expected, &expected_result}) {
        row->clear_padding_of(basic);
    }
    EXPECT_EQ(target, expected);
    if (fetch) {
        EXPECT_EQ(result, expected_result);
    }
}

TEST(Reduction, EveryKernelComputesWhatTheReferenceDoes)
{
    for_each_combination([](ReduceOp op, Basic basic) {
        for (ReductionKernel* kernel : {reduction(op, basic).plain, reduction(op, basic).atomic}) {
            for (std::uint64_t seed = 0; kernel != nullptr && seed < 50; ++seed) {
                expect_kernel(kernel, op, basic, seed);
            }
        }
    });
}

TEST(Reduction, IntegersWrapAround)
{
    auto most = std::numeric_limits<std::int32_t>::max();
    const std::int32_t one = 1;
    reduction(ReduceOp::sum, Basic::i32).plain(&most, &one, nullptr, 1);
    EXPECT_EQ(most, std::numeric_limits<std::int32_t>::min());
    std::int16_t product = -30'000;
    const std::int16_t factor = 30'000;
    reduction(ReduceOp::prod, Basic::i16).atomic(&product, &factor, nullptr, 1);
    EXPECT_EQ(product, static_cast<std::int16_t>(-900'000'000 & 0xffff));
}

template <typename Float>
void expect_exceptional(Basic basic)
{
    constexpr Float infinity = std::numeric_limits<Float>::infinity();
    for (ReductionKernel* kernel :
         {reduction(ReduceOp::sum, basic).plain, reduction(ReduceOp::sum, basic).atomic}) {
        Float sum = infinity;
        const Float minus = -infinity;
        Float old = 0;
        kernel(&sum, &minus, &old, 1);
        EXPECT_TRUE(std::isnan(sum));
        EXPECT_EQ(old, infinity);
        kernel(&sum, &minus, &old, 1); // a NaN at the target does not make the loop endless
        EXPECT_TRUE(std::isnan(old));
    }
}

TEST(Reduction, TakesInfinitiesAndNans)
{
    expect_exceptional<float>(Basic::f32);
    expect_exceptional<double>(Basic::f64);
}

TEST(Reduction, OfEqualValuesTheLowerIndexWins)
{
    struct {
        double value = 2.5;
        std::int32_t index = 7;
        std::int32_t hole = -1;
    } target, origin{2.5, 3, -2}, old{0, 0, -3};
    for (const ReduceOp op : {ReduceOp::maxloc, ReduceOp::minloc}) {
        target.index = 7;
        reduction(op, Basic::f64_i32).plain(&target, &origin, &old, 1);
        EXPECT_EQ(target.index, 3);
        EXPECT_EQ(target.hole, -1);
        EXPECT_EQ(old.index, 7);
        EXPECT_EQ(old.hole, -3);
    }
}

TEST(Reduction, CompareAndSwapTakesWhatMpiAllows)
{
    for (std::size_t i = 0; i < datatype::basic_count; ++i) {
        const auto basic = static_cast<Basic>(i);
        const rma::Kind kind = kind_of(basic);
        EXPECT_EQ(rma::can_compare_and_swap(basic), kind == rma::Kind::integer ||
                                                        kind == rma::Kind::logical ||
                                                        kind == rma::Kind::byte)
            << i;
    }
}

} // namespace
} // namespace sidelight::unit
