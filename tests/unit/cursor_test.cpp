// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/cursor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/bytes.hpp"
#include "datatype/basic_layout.hpp"
#include "datatype/beginning.hpp"
#include "unit/type_map.hpp"

namespace sidelight::unit {
namespace {

using datatype::Basic;
using datatype::Blocks;
using datatype::Buffer;
using datatype::Cursor;

/// Displacements of what is left of the piece at the cursor.
void take_piece(const Cursor& cursor, const std::byte* base, std::vector<std::ptrdiff_t>& bytes)
{
    for (std::size_t i = 0; i < cursor.piece().length; ++i) {
        bytes.push_back(cursor.piece().address + i - base);
    }
}

std::vector<std::ptrdiff_t> walk(const Buffer& buffer)
{
    std::vector<std::ptrdiff_t> bytes;
    Cursor cursor(buffer);
    while (!cursor.at_end()) {
        take_piece(cursor, static_cast<std::byte*>(buffer.address), bytes);
        cursor.advance(cursor.piece().length);
    }
    return bytes;
}

std::vector<std::ptrdiff_t> walk_blocks(const Buffer& buffer)
{
    std::vector<std::ptrdiff_t> bytes;
    Cursor cursor(buffer);
    while (!cursor.at_end()) {
        const Blocks blocks = cursor.blocks();
        EXPECT_GE(blocks.count, 1U);
        for (std::size_t block = 0; block < blocks.count; ++block) {
            for (std::size_t i = 0; i < blocks.length; ++i) {
                const std::byte* start =
                    blocks.address + static_cast<std::ptrdiff_t>(block) * blocks.stride;
                bytes.push_back(start + i - static_cast<std::byte*>(buffer.address));
            }
        }
        cursor.advance(blocks.count * blocks.length);
    }
    return bytes;
}

TEST(Cursor, VisitsEveryByteInOrder)
{
    for (std::uint64_t seed = 0; seed < 5000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const Type type = draw_type(random, Basic::none);
        const std::size_t count = random.below(4);
        Arena arena(type.map, count, 0, random);
        const Buffer buffer{arena.base(), type.layout.get(), count};
        const TypeMap all = type.map.times(count);
        ASSERT_EQ(walk(buffer), all.bytes);
        ASSERT_EQ(walk_blocks(buffer), all.bytes);
    }
}

TEST(Cursor, MovesByAnyNumberOfBytes)
{
    for (std::uint64_t seed = 0; seed < 5000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const Type type = draw_type(random, Basic::none);
        const std::size_t count = 1 + random.below(3);
        Arena arena(type.map, count, 0, random);
        Cursor cursor({arena.base(), type.layout.get(), count});
        const auto bytes = type.map.times(count).bytes;
        for (std::size_t position = 0; position < bytes.size();) {
            ASSERT_EQ(cursor.piece().address - arena.base(), bytes[position]);
            const std::size_t step = random.below(random.chance(50) ? 8 : 200);
            cursor.advance(step);
            position += step;
        }
        ASSERT_TRUE(cursor.at_end());
        cursor.advance(1);
        ASSERT_TRUE(cursor.at_end());
    }
}

TEST(Cursor, PiecesOfOneBasicEndBetweenElements)
{
    for (std::uint64_t seed = 0; seed < 5000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const Basic basic = draw_basic(random);
        const Type type = draw_type(random, basic);
        if (basic == Basic::i16_i32 || type.map.bytes.empty()) {
            continue;
        }
        Arena arena(type.map, 2, 0, random);
        Cursor cursor({arena.base(), type.layout.get(), 2});
        for (; !cursor.at_end(); cursor.advance(cursor.piece().length)) {
            ASSERT_EQ(cursor.piece().length % datatype::shape_of(basic).size, 0U);
        }
    }
}

TEST(Cursor, WalksAddressesThatAreAbsolute)
{
    std::array<std::uint32_t, 4> memory{};
    datatype::LayoutBuilder builder;
    for (const std::uint32_t* word : {&memory[2], &memory[0]}) {
        builder.append(datatype::basic_layout(Basic::u32), reinterpret_cast<std::ptrdiff_t>(word));
    }
    const datatype::LayoutPointer layout = builder.finish(0, 4);
    Cursor cursor({nullptr, layout.get(), 1});
    EXPECT_EQ(static_cast<void*>(cursor.piece().address), &memory[2]);
    cursor.advance(4);
    EXPECT_EQ(static_cast<void*>(cursor.piece().address), &memory[0]);
    cursor.advance(4);
    EXPECT_TRUE(cursor.at_end());
}

TEST(Cursor, ABufferWithoutDataIsAtItsEnd)
{
    EXPECT_TRUE(Cursor({nullptr, nullptr, 3}).at_end());
    EXPECT_TRUE(Cursor({nullptr, &datatype::basic_layout(Basic::f64), 0}).at_end());
    EXPECT_TRUE(Cursor({nullptr, &datatype::basic_layout(Basic::none), 7}).at_end());
}

TEST(Cursor, CrossesHugeBlocksAtOnce)
{
    constexpr std::size_t huge = std::size_t{1} << 40;
    std::byte byte{};
    datatype::LayoutBuilder builder;
    builder.append_block(0, 2, Basic::byte);
    builder.replicate(huge, 0);
    const datatype::LayoutPointer layout = builder.finish(0, 0);
    Cursor cursor({&byte, layout.get(), 2});
    cursor.advance(2 * huge + 2 * (huge - 1) + 1);
    EXPECT_EQ(cursor.piece().address, &byte + 1);
    cursor.advance(1);
    EXPECT_TRUE(cursor.at_end());
}

void expect_copied(std::uint64_t seed)
{
    Random random(seed);
    const std::size_t to_count = random.below(4);
    const Type to = draw_target_type(random, Basic::none, to_count);
    const std::size_t from_count = random.below(4);
    const Type from = draw_type(random, Basic::none);
    Arena target(to.map, to_count, random.below(16), random);
    Arena origin(from.map, from_count, random.below(16), random);
    Arena expected = target;
    const auto into = to.map.times(to_count).bytes;
    const auto out_of = from.map.times(from_count).bytes;
    const std::size_t bytes = std::min(into.size(), out_of.size());
    for (std::size_t i = 0; i < bytes; ++i) {
        *expected.at(into[i]) = *origin.at(out_of[i]);
    }
    EXPECT_EQ(datatype::copy({target.base(), to.layout.get(), to_count},
                             {origin.base(), from.layout.get(), from_count}),
              bytes);
    EXPECT_TRUE(target == expected);
}

TEST(Copy, MovesEveryByteToItsPlaceAndNoOther)
{
    for (std::uint64_t seed = 0; seed < 6000; ++seed) {
        SCOPED_TRACE(seed);
        expect_copied(seed);
        ASSERT_FALSE(HasFailure());
    }
}

TEST(StoreBytes, StoresAsManyAsItIsToldAnywhere)
{
    for (std::size_t bytes = 1; bytes <= 40; ++bytes) {
        for (std::size_t shift = 0; shift < 16; ++shift) {
            alignas(16) std::array<std::uint8_t, 64> target{};
            alignas(16) std::array<std::uint8_t, 64> origin{};
            origin.fill(7);
            store_bytes(target.data() + shift, origin.data() + 15 - shift, bytes);
            std::array<std::uint8_t, 64> expected{};
            std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(shift), bytes, 7);
            ASSERT_EQ(target, expected) << bytes << " bytes at " << shift;
        }
    }
}

/// The beginning of a buffer is the beginning of its type map, wherever it ends.
TEST(Cursor, VisitsTheBeginningOfWhatWasCut)
{
    for (std::uint64_t seed = 0; seed < 5000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const Type type = draw_type(random, Basic::none);
        const std::size_t count = random.below(4);
        Arena arena(type.map, count, 0, random);
        Buffer buffer{arena.base(), type.layout.get(), count};
        if (buffer.bytes() == 0) {
            continue;
        }
        std::vector<std::ptrdiff_t> expected = type.map.times(count).bytes;
        expected.resize(random.below(buffer.bytes() + 1));
        datatype::LayoutPointer made;
        datatype::cut(buffer, expected.size(), made);
        ASSERT_EQ(buffer.bytes(), expected.size());
        ASSERT_EQ(walk(buffer), expected);
    }
}

} // namespace
} // namespace sidelight::unit
