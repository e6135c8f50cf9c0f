// SPDX-License-Identifier: BSD-3-Clause
#include "rma/channel/scattered_memory.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "datatype/cursor.hpp"

namespace sidelight::rma {
namespace {

using datatype::Basic;

class Scattered : public testing::Test {
protected:
    Scattered() { memory_.set_block(bytes_.data(), bytes_.size()); }

    Status find(std::vector<ScatteredBlocks> list, Basic basic = Basic::byte)
    {
        const std::size_t entries = list.size();
        return find(std::move(list), entries, basic);
    }
    Status find(std::vector<ScatteredBlocks> list, std::uint64_t entries, Basic basic)
    {
        const auto payload = std::as_bytes(std::span(list));
        return scattered_.find(payload, entries, memory_, no_region, basic);
    }

    std::array<std::byte, 16384> bytes_{};
    OwnMemory memory_;
    ScatteredMemory scattered_;
};

TEST_F(Scattered, LiesWhereItsBlocksDo)
{
    ASSERT_EQ(find({{.address = 64, .stride = -16, .length = 8, .count = 3},
                    {.address = 100, .length = 4, .count = 1}}),
              Status::ok);
    EXPECT_EQ(scattered_.bytes(), 28U);
    std::vector<std::ptrdiff_t> places;
    for (datatype::Cursor cursor(scattered_.buffer()); !cursor.at_end();) {
        places.push_back(cursor.piece().address - bytes_.data());
        cursor.advance(cursor.piece().length);
    }
    EXPECT_EQ(places, (std::vector<std::ptrdiff_t>{64, 48, 32, 100}));
}

TEST_F(Scattered, NoBlockReachesOutside)
{
    EXPECT_EQ(find({{.address = 16376, .length = 8, .count = 1}}), Status::ok);
    EXPECT_EQ(find({{.address = 16380, .length = 8, .count = 1}}), Status::rma_range);
    EXPECT_EQ(find({{.address = 0, .stride = -8, .length = 8, .count = 2}}), Status::rma_range);
    EXPECT_EQ(find({{.address = 0, .stride = 8192, .length = 8, .count = 3}}), Status::rma_range);
    EXPECT_EQ(find({{.address = 0, .stride = INT64_MIN, .length = 8, .count = 2}}),
              Status::rma_range);
}

TEST_F(Scattered, HasTheDataOfAFragmentAtMost)
{
    EXPECT_EQ(find({{.address = 0, .length = 16, .count = fragment_bytes / 16}}), Status::ok);
    EXPECT_EQ(find({{.address = 0, .length = 16, .count = fragment_bytes / 16 + 1}}),
              Status::rma_range);
    EXPECT_EQ(find({{.address = 0, .length = UINT32_MAX, .count = UINT32_MAX}}), Status::rma_range);
    EXPECT_EQ(find({{.address = 0, .length = 0, .count = 1}}), Status::rma_range);
}

TEST_F(Scattered, CutsNoElement)
{
    const std::vector<ScatteredBlocks> list{{.address = 0, .stride = 32, .length = 12, .count = 2}};
    EXPECT_EQ(find(list, Basic::i32), Status::ok);
    EXPECT_EQ(find(list, Basic::i64), Status::rma_range);
}

TEST_F(Scattered, HasAWholeList)
{
    const std::vector<ScatteredBlocks> list{{.address = 0, .length = 8, .count = 1}};
    EXPECT_EQ(find(list, 0, Basic::byte), Status::count);
    EXPECT_EQ(find(list, 2, Basic::byte), Status::count);
    EXPECT_EQ(find(list, UINT64_MAX, Basic::byte), Status::count);
}

} // namespace
} // namespace sidelight::rma
