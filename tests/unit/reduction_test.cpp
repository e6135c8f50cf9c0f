// SPDX-License-Identifier: BSD-3-Clause
#include "rma/accumulate/reduction.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "unit/reference.hpp"

namespace sidelight::unit {
namespace {

using datatype::Basic;
using datatype::shape_of;
using fabric::sim::Random;
using rma::ReduceOp;
using rma::reduction;
using rma::ReductionKernel;

constexpr std::size_t elements = 140; // of the smallest ones, four long vectors and some
constexpr std::size_t most_bytes = 32 * (elements + 1);
constexpr std::size_t most_shift = 33; // of one row against another: no vector is aligned

/// Room for more elements than are worked on, with a byte that shows in every hole.
struct Row {
    alignas(64) std::array<std::byte, most_bytes + most_shift> bytes{};
    std::size_t shift; ///< where the elements begin

    explicit Row(std::uint8_t filler, std::size_t shifted = 0) : shift(shifted)
    {
        bytes.fill(static_cast<std::byte>(filler));
    }
    std::byte* at(Basic basic, std::size_t i) { return &bytes[shift + i * shape_of(basic).extent]; }
    void clear_padding_of(Basic basic)
    {
        for (std::size_t i = 0; i <= elements; ++i) {
            clear_padding(basic, at(basic, i));
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

/// One kernel, and how far from the alignment of its elements a target may lie.
struct Kernel {
    ReductionKernel* function;
    std::size_t shift;
};

/// All that this processor can run.
std::vector<Kernel> kernels_of(ReduceOp op, Basic basic)
{
    const rma::Reduction& all = reduction(op, basic);
    std::vector<Kernel> found{{all.plain, most_shift}, {all.atomic, 0}};
    if (has_wide_vectors()) {
        found.push_back({all.wide, most_shift});
    }
    if (has_widest_vectors()) {
        found.push_back({all.widest, most_shift});
    }
    std::erase_if(found, [](const Kernel& kernel) { return kernel.function == nullptr; });
    return found;
}

void expect_kernel(const Kernel& kernel, ReduceOp op, Basic basic, std::uint64_t seed)
{
    Random random(seed);
    Row target(0xa5, random.below(kernel.shift + 1));
    Row origin(0x5a, random.below(most_shift + 1));
    Row result(0x3c, random.below(most_shift + 1));
    fill(random, basic, target.at(basic, 0), elements + 1);
    fill(random, basic, origin.at(basic, 0), elements + 1);
    Row expected = target;
    Row expected_result = result;
    const std::size_t first = random.below(9);
    const std::size_t last = first + random.below(elements + 1 - first);
    for (std::size_t i = first; i < last; ++i) {
        encode(basic, decode(basic, target.at(basic, i)), expected_result.at(basic, i));
        combine_reference(op, basic, expected.at(basic, i), origin.at(basic, i));
    }
    const bool fetch = random.chance(50);
    const bool reads = op != ReduceOp::no_op;
    kernel.function(target.at(basic, first), reads ? origin.at(basic, first) : nullptr,
                    fetch ? result.at(basic, first) : nullptr, last - first);
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
        for (const Kernel& kernel : kernels_of(op, basic)) {
            for (std::uint64_t seed = 0; seed < 150; ++seed) {
                expect_kernel(kernel, op, basic, seed);
            }
        }
    });
}

TEST(Reduction, WideVectorsAreForWhatTakesThem)
{
    if (!may_have_wide_vectors) {
        GTEST_SKIP() << "this architecture has none of its own";
    }
    for (const Basic basic : {Basic::i8, Basic::i64, Basic::f32, Basic::f64, Basic::c64}) {
        EXPECT_NE(reduction(ReduceOp::sum, basic).wide, nullptr);
        EXPECT_NE(reduction(ReduceOp::sum, basic).widest, nullptr);
    }
    EXPECT_EQ(reduction(ReduceOp::sum, Basic::f80).wide, nullptr);
    EXPECT_EQ(reduction(ReduceOp::sum, Basic::f80).widest, nullptr);
    EXPECT_EQ(reduction(ReduceOp::prod, Basic::c64).widest, nullptr);
    const rma::Reduction& sum = reduction(ReduceOp::sum, Basic::i64);
    EXPECT_EQ(sum.row(), has_widest_vectors() ? sum.widest
                         : has_wide_vectors() ? sum.wide
                                              : sum.plain);
    EXPECT_EQ(reduction(ReduceOp::replace, Basic::i64).row(),
              reduction(ReduceOp::replace, Basic::i64).plain);
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
