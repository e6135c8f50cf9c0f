// SPDX-License-Identifier: BSD-3-Clause
#include "base/zeroed_table.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "base/bytes.hpp"
#include "base/shared_memory.hpp"

namespace sidelight {

namespace {

/// Whole pages of the table that are in memory.
std::size_t touched_pages(const std::byte* first, std::size_t bytes)
{
    const std::size_t page = page_size();
    const std::uintptr_t begin = round_up(reinterpret_cast<std::uintptr_t>(first), page);
    const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(first) + bytes) / page * page;
    std::vector<unsigned char> there((end - begin) / page);
    EXPECT_EQ(mincore(reinterpret_cast<void*>(begin), end - begin, there.data()), 0);
    return static_cast<std::size_t>(
        std::count_if(there.begin(), there.end(), [](unsigned char one) { return one % 2 == 1; }));
}

} // namespace

TEST(ZeroedTable, IsZeroAndItsOwn)
{
    for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, std::size_t{1} << 20}) {
        ZeroedTable<std::uint64_t> table(size);
        const int last = static_cast<int>(size) - 1;
        EXPECT_EQ(table[0], 0U);
        EXPECT_EQ(table[last], 0U);
        table[last] = 7;
        EXPECT_EQ(table.data()[last], 7U);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(table.data()) % alignof(std::uint64_t), 0U);
    }
}

/// Windows come and go, and each has a table of all members.
TEST(ZeroedTable, CostsNoMemoryWhereOthersWereFreed)
{
    constexpr std::size_t bytes = std::size_t{8} << 20;
    {
        ZeroedTable<std::byte> larger(2 * bytes);
        larger[0] = std::byte{1};
    }
    for (int time = 0; time < 4; ++time) {
        ZeroedTable<std::byte> table(bytes);
        EXPECT_LE(touched_pages(table.data(), bytes), 1U);
        table[1] = std::byte{1};
    }
}

} // namespace sidelight
