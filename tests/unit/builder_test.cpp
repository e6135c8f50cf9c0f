// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/builder.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "datatype/basic_layout.hpp"
#include "datatype/beginning.hpp"

namespace sidelight::datatype {
namespace {

constexpr RunGroup once{1, 1, 0};
constexpr std::ptrdiff_t largest = std::numeric_limits<std::ptrdiff_t>::max();

LayoutBuilder block(std::ptrdiff_t offset, std::size_t length, Basic basic = Basic::byte)
{
    LayoutBuilder builder;
    builder.append_block(offset, length, basic);
    return builder;
}

TEST(Builder, JoinsBlocksThatTouch)
{
    LayoutBuilder builder = block(0, 4);
    builder.append_block(4, 8, Basic::byte);
    builder.append(block(0, 4), 12);
    const LayoutPointer layout = builder.finish(0, 16);
    ASSERT_EQ(layout->runs.size(), 1U);
    EXPECT_EQ(layout->runs[0], (datatype::Run{0, 16, 0, 1}));
    EXPECT_TRUE(layout->contiguous);
    EXPECT_TRUE(builder.empty());
    EXPECT_EQ(builder.size(), 0U);
}

TEST(Builder, MakesOneElementOfEachBasicTypeAndTwoOfAPair)
{
    for (std::size_t number = 1; number < basic_count; ++number) {
        const auto basic = static_cast<Basic>(number);
        const Signature one = basic_layout(basic).signature;
        EXPECT_EQ(one, signature_of(basic, shape_of(basic).size)) << number;
        EXPECT_EQ(one.elements, basic >= Basic::f32_i32 ? 2U : 1U) << number;
    }
}

TEST(Builder, KeepsTheOrderOfTheMap)
{
    LayoutBuilder builder = block(4, 4);
    builder.append_block(0, 4, Basic::byte);
    const LayoutPointer layout = builder.finish(0, 8);
    ASSERT_EQ(layout->runs.size(), 1U);
    EXPECT_EQ(layout->runs[0], (datatype::Run{4, 4, -4, 2}));
    EXPECT_FALSE(layout->contiguous);
}

TEST(Builder, AVectorIsOneRun)
{
    LayoutBuilder builder = block(0, 8);
    builder.replicate(3, 8);
    builder.replicate(1000, 100);
    const LayoutPointer layout = builder.finish(0, 100'000);
    ASSERT_EQ(layout->runs.size(), 1U);
    EXPECT_EQ(layout->runs[0], (datatype::Run{0, 24, 100, 1000}));
    EXPECT_EQ(layout->groups, std::vector({once}));
}

TEST(Builder, EqualBlocksAtEqualDistancesAreOneRun)
{
    LayoutBuilder builder;
    for (int i = 0; i < 50; ++i) {
        builder.append_block(16 * i, 8, Basic::byte);
    }
    const LayoutPointer layout = builder.finish(0, 800);
    ASSERT_EQ(layout->runs.size(), 1U);
    EXPECT_EQ(layout->runs[0], (datatype::Run{0, 8, 16, 50}));
}

TEST(Builder, AWholeThatIsRepeatedIsKeptOnce)
{
    LayoutBuilder builder = block(0, 4);
    builder.append_block(8, 2, Basic::byte);
    builder.replicate(std::size_t{1} << 20, 16);
    builder.replicate(std::size_t{1} << 20, std::ptrdiff_t{16} << 20);
    const LayoutPointer layout = builder.finish(0, 16);
    EXPECT_EQ(layout->groups, std::vector({RunGroup{2, std::size_t{1} << 40, 16}}));
    EXPECT_EQ(layout->size, std::size_t{6} << 40);
    EXPECT_EQ(layout->true_ub, (std::ptrdiff_t{16} << 40) - 6);
}

TEST(Builder, SomethingAfterAShortRepetitionTurnsItIntoRuns)
{
    LayoutBuilder builder = block(0, 4);
    builder.append_block(8, 2, Basic::byte);
    builder.replicate(2, 16);
    builder.append_block(40, 4, Basic::byte);
    const LayoutPointer layout = builder.finish(0, 48);
    EXPECT_EQ(layout->groups, std::vector({RunGroup{layout->runs.size(), 1, 0}}));
    EXPECT_EQ(layout->size, 16U);
    EXPECT_EQ(layout->true_ub, 44);
}

/// Two records, a million times, with something before and behind them.
TEST(Builder, ALongRepetitionIsKeptOnceAmongOthers)
{
    constexpr std::size_t many = std::size_t{1} << 20;
    LayoutBuilder records = block(0, 4);
    records.append_block(6, 2, Basic::byte);
    records.replicate(many, 16);
    LayoutBuilder builder = block(0, 8);
    builder.append(records, 16);
    builder.append_block(std::ptrdiff_t{16} * (many + 1), 1, Basic::byte);
    const LayoutPointer layout = builder.finish(0, std::ptrdiff_t{16} * (many + 2));
    EXPECT_EQ(layout->groups,
              std::vector({RunGroup{1, 1, 0}, RunGroup{2, many, 16}, RunGroup{1, 1, 0}}));
    EXPECT_EQ(layout->runs.size(), 4U);
    EXPECT_EQ(layout->size, 6 * many + 9);
    EXPECT_EQ(layout->true_ub, std::ptrdiff_t{16} * (many + 1) + 1);
}

/// What is sent may end anywhere in what the other side could take.
TEST(Builder, TheBeginningOfALongRepetitionTakesNoMoreMemory)
{
    constexpr std::size_t many = std::size_t{1} << 40;
    LayoutBuilder builder = block(0, 4);
    builder.append_block(6, 2, Basic::byte);
    const LayoutPointer record = builder.finish(0, 8);
    const LayoutPointer of_elements = beginning_of(*record, 6 * many + 5);
    EXPECT_EQ(of_elements->groups, std::vector({RunGroup{2, many, 8}, RunGroup{2, 1, 0}}));
    builder.append(*record, 0);
    builder.replicate(many, 8);
    const LayoutPointer all = builder.finish(0, 8);
    const LayoutPointer of_repetitions = beginning_of(*all, 6 * (many - 1) + 4);
    EXPECT_EQ(of_repetitions->groups, std::vector({RunGroup{2, many - 1, 8}, RunGroup{1, 1, 0}}));
    EXPECT_EQ(of_repetitions->size, 6 * (many - 1) + 4);
}

TEST(Builder, NoCopiesLeaveNothing)
{
    LayoutBuilder builder = block(7, 4, Basic::i32);
    builder.replicate(0, 4);
    EXPECT_TRUE(builder.empty());
    EXPECT_EQ(builder.basic(), Basic::none);
    builder.replicate(SIZE_MAX, largest);
    const LayoutPointer layout = builder.finish(-3, 9);
    EXPECT_EQ(layout->size, 0U);
    EXPECT_EQ(layout->lb, -3);
    EXPECT_EQ(layout->extent, 9);
    EXPECT_TRUE(layout->runs.empty());
}

TEST(Builder, OneBasicOrNone)
{
    LayoutBuilder builder = block(0, 4, Basic::i32);
    builder.append_block(100, 0, Basic::f64); // no data, no say
    builder.append(basic_layout(Basic::i32), 4);
    EXPECT_EQ(builder.basic(), Basic::i32);
    builder.append(basic_layout(Basic::u32), 8);
    EXPECT_EQ(builder.basic(), Basic::none);
    builder.append(basic_layout(Basic::i32), 12);
    EXPECT_EQ(builder.basic(), Basic::none);
}

TEST(Builder, HugeCountsTakeNoMemory)
{
    LayoutBuilder builder = block(0, 1);
    builder.replicate(static_cast<std::size_t>(largest), 1);
    const LayoutPointer layout = builder.finish(0, largest);
    EXPECT_EQ(layout->size, static_cast<std::size_t>(largest));
    EXPECT_TRUE(layout->contiguous);

    LayoutBuilder stacked = block(0, 8);
    stacked.replicate(static_cast<std::size_t>(largest) / 8, 0);
    EXPECT_EQ(stacked.finish(0, 8)->true_ub, 8);
}

TEST(Builder, RefusesWhatDoesNotFit)
{
    LayoutBuilder too_many = block(0, 8);
    EXPECT_THROW(too_many.replicate(static_cast<std::size_t>(largest) / 8 + 1, 8),
                 std::length_error);
    LayoutBuilder too_far = block(0, 8);
    too_far.replicate(3, largest / 2);
    EXPECT_THROW(static_cast<void>(too_far.finish(0, 8)), std::length_error);
    LayoutBuilder beyond = block(largest - 3, 4);
    EXPECT_THROW(static_cast<void>(beyond.finish(0, 8)), std::length_error);
    LayoutBuilder shifted;
    EXPECT_THROW(shifted.append(block(largest - 10, 4), 100), std::length_error);
    LayoutBuilder full = block(0, static_cast<std::size_t>(largest));
    EXPECT_THROW(full.append_block(-10, 4, Basic::byte), std::length_error);
}

TEST(Builder, AddressesNearBothEndsFit)
{
    LayoutBuilder builder = block(std::numeric_limits<std::ptrdiff_t>::min(), 4);
    builder.append_block(largest - 4, 4, Basic::byte);
    const LayoutPointer layout = builder.finish(0, 8);
    EXPECT_EQ(layout->runs.size(), 2U);
    EXPECT_EQ(layout->true_lb, std::numeric_limits<std::ptrdiff_t>::min());
    EXPECT_EQ(layout->true_ub, largest);
}

} // namespace
} // namespace sidelight::datatype
