// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <thread>

#include "datatype/basic_layout.hpp"
#include "datatype/cursor.hpp"
#include "unit/type_map.hpp"

namespace sidelight::unit {
namespace {

using datatype::Basic;
using datatype::Buffer;
using datatype::Cursor;
using datatype::Extent;
using datatype::Layout;
using datatype::LayoutBuilder;
using datatype::LayoutPointer;
using datatype::touched;

constexpr std::ptrdiff_t largest = std::numeric_limits<std::ptrdiff_t>::max();

bool counts_up(const std::vector<std::ptrdiff_t>& bytes)
{
    std::vector<std::ptrdiff_t> expected(bytes.size());
    std::iota(expected.begin(), expected.end(), 0);
    return bytes == expected;
}

void expect_same(const Layout& layout, const TypeMap& map)
{
    EXPECT_EQ(layout.size, map.bytes.size());
    EXPECT_EQ(layout.lb, map.lb);
    EXPECT_EQ(layout.extent, map.extent);
    EXPECT_EQ(layout.true_lb, map.first());
    EXPECT_EQ(layout.true_ub, map.last());
    EXPECT_EQ(layout.basic, map.basic);
    EXPECT_EQ(layout.basic_size, datatype::shape_of(map.basic).extent);
    EXPECT_EQ(layout.contiguous, counts_up(map.times(3).bytes));
    EXPECT_FALSE(layout.predefined);
}

TEST(Layout, DescribesRandomTypes)
{
    for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const Type type = draw_type(random, random.chance(50) ? Basic::none : draw_basic(random));
        expect_same(*type.layout, type.map);
        ASSERT_FALSE(HasFailure());
    }
}

TEST(Layout, TouchedIsWhatTheMapTouches)
{
    for (std::uint64_t seed = 0; seed < 5000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const Type type = draw_type(random, Basic::none);
        const std::size_t count = random.below(5);
        const TypeMap all = type.map.times(count);
        const Extent bounds = touched(*type.layout, count);
        ASSERT_EQ(bounds.first, all.first());
        ASSERT_EQ(bounds.last, all.last());
        ASSERT_FALSE(bounds.overflow);
    }
}

TEST(Layout, BlocksAreThePiecesOfACursor)
{
    for (std::uint64_t seed = 0; seed < 5000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const Type type = draw_type(random, Basic::none);
        const Buffer buffer{nullptr, type.layout.get(), 1 + random.below(4)};
        std::size_t pieces = 0;
        for (Cursor cursor(buffer); !cursor.at_end(); ++pieces) {
            cursor.advance(cursor.piece().length);
        }
        const std::size_t blocks = datatype::blocks(buffer, SIZE_MAX);
        ASSERT_EQ(blocks, std::max<std::size_t>(pieces, 1));
        const std::size_t most = random.below(2 * blocks) + 1;
        ASSERT_EQ(datatype::blocks(buffer, most) > most, blocks > most);
    }
}

LayoutPointer bytes_layout(std::size_t size, std::ptrdiff_t extent)
{
    LayoutBuilder builder;
    builder.append_block(0, size, Basic::byte);
    return builder.finish(0, extent);
}

TEST(Layout, TouchedTellsWhatDoesNotFit)
{
    const LayoutPointer plain = bytes_layout(8, 8);
    constexpr std::size_t most = static_cast<std::size_t>(largest) / 8;
    EXPECT_FALSE(touched(*plain, most).overflow);
    EXPECT_TRUE(touched(*plain, most + 1).overflow);
    EXPECT_TRUE(touched(*plain, SIZE_MAX).overflow);

    const LayoutPointer backwards = bytes_layout(1, -(largest / 2));
    EXPECT_EQ(touched(*backwards, 2).first, -(largest / 2));
    EXPECT_EQ(touched(*backwards, 2).last, 1);
    EXPECT_TRUE(touched(*backwards, 4).overflow);

    // In one place over and over: the address fits, the number of bytes does not.
    const LayoutPointer stacked = bytes_layout(std::size_t{1} << 32, 0);
    EXPECT_FALSE(touched(*stacked, std::size_t{1} << 30).overflow);
    EXPECT_TRUE(touched(*stacked, std::size_t{1} << 31).overflow);
}

TEST(Layout, NothingIsTouchedWithoutData)
{
    const LayoutPointer empty = LayoutBuilder{}.finish(-largest, largest);
    EXPECT_FALSE(touched(*empty, SIZE_MAX).overflow);
    EXPECT_EQ(touched(*empty, SIZE_MAX).first, touched(*empty, SIZE_MAX).last);
    EXPECT_FALSE(touched(datatype::basic_layout(Basic::f64), 0).overflow);
    EXPECT_TRUE(empty->contiguous);
}

TEST(Layout, ReferencesAreCountedByAllThreads)
{
    const LayoutPointer layout = bytes_layout(4, 4);
    const auto share = [&layout] {
        for (int i = 0; i < 20'000; ++i) {
            datatype::acquire(*layout);
            datatype::release(layout.get());
        }
    };
    std::thread other(share);
    share();
    other.join();
    EXPECT_EQ(layout->references.load(), 1U);
}

TEST(Layout, PredefinedOnesAreNotCounted)
{
    const Layout& layout = datatype::basic_layout(Basic::i32);
    datatype::acquire(layout);
    EXPECT_EQ(layout.references.load(), 1U);
    datatype::release(&layout);
    datatype::release(&layout);
    datatype::release(nullptr);
    EXPECT_EQ(layout.references.load(), 1U);
    EXPECT_EQ(layout.size, 4U);
}

TEST(BasicLayout, HasTheShapeOfItsBasic)
{
    for (std::size_t i = 0; i < datatype::basic_count; ++i) {
        SCOPED_TRACE(i);
        const auto basic = static_cast<Basic>(i);
        const Layout& layout = datatype::basic_layout(basic);
        const auto shape = datatype::shape_of(basic);
        EXPECT_EQ(&layout, &datatype::basic_layout(basic));
        EXPECT_TRUE(layout.predefined);
        EXPECT_EQ(layout.size, shape.size);
        EXPECT_EQ(layout.extent, shape.extent);
        EXPECT_EQ(layout.basic, basic);
        EXPECT_EQ(layout.contiguous, shape.size == shape.extent);
        EXPECT_TRUE(shape.atomic == 0 || shape.atomic == shape.extent);
    }
}

TEST(BasicLayout, ShortAndIntHaveAHoleBetweenThem)
{
    const Layout& layout = datatype::basic_layout(Basic::i16_i32);
    ASSERT_EQ(layout.runs.size(), 2U);
    EXPECT_EQ(layout.runs[0], (datatype::Run{0, 2, 0, 1}));
    EXPECT_EQ(layout.runs[1], (datatype::Run{4, 4, 0, 1}));
}

} // namespace
} // namespace sidelight::unit
