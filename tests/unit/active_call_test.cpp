// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cstdint>

#include <gtest/gtest.h>

#include "datatype/basic_layout.hpp"
#include "datatype/builder.hpp"
#include "datatype/signature.hpp"
#include "rma/active/call.hpp"
#include "rma/active/exclusion.hpp"
#include "rma/active/ring.hpp"
#include "rma/operation/active_directly.hpp"

/// What active messages are made of: images, rooms, signatures, and who may run beside whom.
namespace sidelight::rma {
namespace {

using datatype::Basic;
using datatype::LayoutBuilder;
using datatype::Signature;

datatype::LayoutPointer spread_words()
{
    LayoutBuilder builder;
    builder.append_block(4, 4, Basic::i32);
    return builder.finish(0, 12);
}

TEST(ActiveImage, HoldsWhatSegmentsTouch)
{
    const datatype::LayoutPointer layout = spread_words();
    const ActiveSide side{.layout = layout.get(), .count = 2};
    const ActiveImage one = image_of(side, 1);
    EXPECT_EQ(one.bytes, 16U);
    EXPECT_EQ(one.start, -4);
    EXPECT_EQ(image_of(side, 3).bytes, 64U);
    EXPECT_EQ(image_of({}, 3).bytes, 0U);
    EXPECT_TRUE(image_of({.layout = layout.get(), .count = ~std::size_t{0}}, 2).overflow);
}

/// What the handler gets is a place in the image of an element's alignment, though the data begin
/// behind it.
TEST(ActiveImage, IsAlignedAsElementsAre)
{
    LayoutBuilder builder;
    builder.append_block(4, 4, Basic::i32);
    builder.append_block(8, 8, Basic::f64);
    const datatype::LayoutPointer layout = builder.finish(0, 16);
    const ActiveCall call{.segments = 2,
                          .input = {.layout = layout.get(), .count = 1},
                          .output = {.layout = layout.get(), .count = 1}};
    const ActiveRoom room = room_of(call, 2);
    EXPECT_EQ(room.input.start, 0);
    EXPECT_EQ(room.input.bytes, 32U);
    EXPECT_EQ(room.output.start, 0);
    EXPECT_EQ(room.output_at, 32U);
    LayoutBuilder before;
    before.append_block(-4, 4, Basic::i32);
    before.append_block(0, 8, Basic::f64);
    const datatype::LayoutPointer layout_before = before.finish(-4, 16);
    EXPECT_EQ(image_of({.layout = layout_before.get(), .count = 1}, 1).start, 16);
    EXPECT_EQ(image_of({.layout = layout_before.get(), .count = 0}, 1).bytes, 0U);
}

TEST(ActiveRoom, HoldsAsManySegmentsAsFit)
{
    const ActiveCall call{.segments = 100,
                          .input = {.layout = &datatype::basic_layout(Basic::char8), .count = 3},
                          .output = {.layout = &datatype::basic_layout(Basic::i64), .count = 1}};
    EXPECT_EQ(room_of(call, 1).output_at, 8U); // as the output wants to be aligned
    EXPECT_EQ(room_of(call, 1).bytes, 16U);
    EXPECT_EQ(segments_in(call, 15, 100), 0U);
    EXPECT_EQ(segments_in(call, 16, 100), 1U);
    for (std::size_t bytes = 16; bytes < 400; ++bytes) {
        const std::uint64_t found = segments_in(call, bytes, 100);
        EXPECT_LE(room_of(call, found).bytes, bytes);
        EXPECT_GT(room_of(call, found + 2).bytes, bytes);
    }
    EXPECT_EQ(segments_in(call, 1'000'000, 7), 7U);
}

TEST(ActiveImage, BringsDataThereAndBack)
{
    const datatype::LayoutPointer layout = spread_words();
    const ActiveSide side{.layout = layout.get(), .count = 2};
    const std::array<std::int32_t, 6> sent{1, 2, 3, 4, 5, 6};
    std::array<std::int32_t, 6> back{};
    const auto buffer = [](const auto& words) {
        return datatype::Buffer{const_cast<std::int32_t*>(words.data()),
                                &datatype::basic_layout(Basic::i32), 2};
    };
    const ActiveImage image = image_of(side, 2);
    std::array<std::byte, 64> memory;
    memory.fill(std::byte{0xff});
    ASSERT_LE(image.bytes, memory.size());
    fill_image(buffer(sent), 1, 2, side, image, memory.data());
    EXPECT_EQ(memory[4], std::byte{0}); // a hole
    take_image(buffer(back), 1, 2, side, image, memory.data());
    EXPECT_EQ(back, (std::array<std::int32_t, 6>{0, 0, 3, 4, 5, 6}));
}

TEST(Signature, IsOfTheSequenceOfElements)
{
    const Signature two = datatype::signature_of(Basic::i32, 8);
    const Signature one = datatype::signature_of(Basic::i32, 4);
    const Signature other = datatype::signature_of(Basic::f32, 4);
    EXPECT_EQ(datatype::repeated(one, 2), two);
    EXPECT_EQ(datatype::joined(one, one), two);
    EXPECT_NE(datatype::joined(one, other), datatype::joined(other, one));
    EXPECT_EQ(datatype::repeated(datatype::joined(one, other), 3),
              datatype::joined(datatype::repeated(datatype::joined(one, other), 2),
                               datatype::joined(one, other)));
    std::uint64_t times = 0;
    EXPECT_TRUE(datatype::made_of(datatype::repeated(two, 3), two, times));
    EXPECT_EQ(times, 3U);
    EXPECT_FALSE(datatype::made_of(datatype::repeated(one, 3), two, times));
    EXPECT_FALSE(datatype::made_of(two, other, times));
    EXPECT_TRUE(datatype::made_of({}, one, times));
    EXPECT_EQ(times, 0U);
    EXPECT_TRUE(datatype::made_of({}, {}, times));
    EXPECT_FALSE(datatype::made_of(one, {}, times));
}

TEST(Signature, OfPairsIsThatOfBothMembers)
{
    const Signature index = datatype::signature_of(Basic::i32, 4);
    EXPECT_EQ(datatype::basic_layout(Basic::i32_i32).signature, datatype::repeated(index, 2));
    EXPECT_EQ(datatype::basic_layout(Basic::f64_i32).signature,
              datatype::joined(datatype::signature_of(Basic::f64, 8), index));
    EXPECT_EQ(datatype::basic_layout(Basic::i16_i32).signature,
              datatype::joined(datatype::signature_of(Basic::i16, 2), index));
    EXPECT_EQ(datatype::signature_of(Basic::f64_f64, 32), datatype::signature_of(Basic::f64, 32));
    EXPECT_EQ(datatype::signature_of(Basic::f80_i32, 20),
              datatype::joined(datatype::signature_of(Basic::f80, 16), index));
}

TEST(Signature, IsKeptWithLayouts)
{
    LayoutBuilder builder;
    builder.append_block(0, 4, Basic::i32);
    builder.append_block(8, 8, Basic::f64);
    builder.replicate(3, 16);
    const datatype::LayoutPointer layout = builder.finish(0, 48);
    const Signature once = datatype::joined(datatype::signature_of(Basic::i32, 4),
                                            datatype::signature_of(Basic::f64, 8));
    EXPECT_EQ(layout->signature, datatype::repeated(once, 3));
}

TEST(Ring, HandsOutWhatDoesNotOverlap)
{
    Ring<4> ring;
    ring.begin(1000, 64);
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    EXPECT_FALSE(ring.take(65, first));
    EXPECT_TRUE(ring.take(32, first));
    EXPECT_TRUE(ring.take(32, second));
    EXPECT_EQ(first, 1000U);
    EXPECT_EQ(second, 1032U);
    EXPECT_FALSE(ring.take(1, third));
    EXPECT_TRUE(ring.give_back(second)); // not free before the first one ends
    EXPECT_FALSE(ring.take(1, third));
    EXPECT_FALSE(ring.give_back(second));
    EXPECT_TRUE(ring.give_back(first));
    EXPECT_TRUE(ring.empty());
    EXPECT_TRUE(ring.take(64, third));
}

class Living final : public Members {
public:
    Status find(int /*rank*/, Member& /*found*/) noexcept override { return Status::ok; }
    bool has_ended(int rank) noexcept override { return rank == dead; }
    int dead = -1;
};

TEST(Exclusion, LetsConcurrentOnesShare)
{
    std::array<ActiveBlock, 2> blocks;
    Living members;
    std::array<Exclusion, 2> both;
    for (int rank = 0; rank < 2; ++rank) {
        both[static_cast<std::size_t>(rank)].begin(rank, members);
        for (int other = 0; other < 2; ++other) {
            both[static_cast<std::size_t>(rank)].add_neighbour(
                other, blocks[static_cast<std::size_t>(other)]);
        }
    }
    Exclusion::Hold one = both[0].try_enter(1, true, 0);
    Exclusion::Hold two = both[1].try_enter(1, true, 0);
    EXPECT_TRUE(one && two);
    EXPECT_FALSE(both[0].try_enter(1, false, 0));
    Exclusion::Hold elsewhere = both[0].try_enter(0, false, 0);
    EXPECT_TRUE(elsewhere) << "another target's memory";
    Exclusion::leave(one);
    Exclusion::leave(two);
    Exclusion::Hold alone = both[0].try_enter(1, false, 0);
    EXPECT_TRUE(alone);
    EXPECT_FALSE(both[1].try_enter(1, true, 0));
    EXPECT_FALSE(both[1].try_enter(1, false, 0));
    members.dead = 0; // while it holds it
    EXPECT_FALSE(both[1].try_enter(1, false, 0));
    EXPECT_TRUE(both[1].try_enter(1, false, 63)) << "taken from the dead";
}

/// Who opens a target has recorded before what comes before: an answer from before that is old.
TEST(DirectActive, AsksWhetherOthersWaitWhenTheTargetIsOpen)
{
    Target target;
    target.mapped = true;
    target.size = 8;
    std::array<std::byte, 8> memory{};
    target.base = memory.data();
    target.disp_unit = 1;
    AccumulateBlock own{};
    Accumulates accumulates(own);
    Mapped mapped;
    mapped.begin(&target, 1, accumulates);
    Exclusion exclusion;
    int asked = 0;
    const auto others_wait = [&asked] {
        ++asked;
        return true;
    };
    const DirectActive message{.target = 0, .displacement = 0, .bytes = 8};
    EXPECT_FALSE(enter_directly(mapped, exclusion, message, others_wait).hold);
    EXPECT_EQ(asked, 0);
    mapped.open(target, {.reachable = true, .flushable = true});
    EXPECT_FALSE(enter_directly(mapped, exclusion, message, others_wait).hold);
    EXPECT_EQ(asked, 1);
}

} // namespace
} // namespace sidelight::rma
