// SPDX-License-Identifier: BSD-3-Clause
#include "rma/region.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "fabric/sim/random.hpp"

namespace sidelight::rma {
namespace {

const std::byte* at(std::uint64_t address) noexcept
{
    return reinterpret_cast<const std::byte*>(address);
}

TEST(Regions, CoverWhatIsAttachedAndNothingElse)
{
    Regions regions;
    EXPECT_FALSE(regions.covers(0, 0));
    ASSERT_EQ(regions.attach(at(100), 50), Status::ok);
    EXPECT_TRUE(regions.covers(100, 150));
    EXPECT_TRUE(regions.covers(120, 121));
    EXPECT_TRUE(regions.covers(120, 120));
    EXPECT_FALSE(regions.covers(99, 101));
    EXPECT_FALSE(regions.covers(149, 151));
    EXPECT_FALSE(regions.covers(200, 201));
}

TEST(Regions, RefuseToOverlap)
{
    Regions regions;
    ASSERT_EQ(regions.attach(at(100), 50), Status::ok);
    EXPECT_EQ(regions.attach(at(100), 50), Status::rma_attach);
    EXPECT_EQ(regions.attach(at(50), 51), Status::rma_attach);
    EXPECT_EQ(regions.attach(at(149), 1), Status::rma_attach);
    EXPECT_EQ(regions.attach(at(120), 0), Status::rma_attach);
    EXPECT_EQ(regions.attach(at(0), 1000), Status::rma_attach);
    EXPECT_EQ(regions.attach(at(50), 50), Status::ok);
    EXPECT_EQ(regions.attach(at(150), 1), Status::ok);
}

TEST(Regions, NeighboursAreNotOneRegion)
{
    Regions regions;
    ASSERT_EQ(regions.attach(at(100), 50), Status::ok);
    ASSERT_EQ(regions.attach(at(150), 50), Status::ok);
    EXPECT_FALSE(regions.covers(140, 160));
}

TEST(Regions, DetachTakesTheStartOfARegionOnce)
{
    Regions regions;
    ASSERT_EQ(regions.attach(at(100), 50), Status::ok);
    EXPECT_EQ(regions.detach(at(101)), Status::base);
    EXPECT_EQ(regions.detach(at(100)), Status::ok);
    EXPECT_EQ(regions.detach(at(100)), Status::base);
    EXPECT_FALSE(regions.covers(100, 101));
    EXPECT_EQ(regions.attach(at(90), 50), Status::ok);
}

TEST(Regions, NoneWrapsAroundTheEndOfMemory)
{
    Regions regions;
    EXPECT_EQ(regions.attach(at(UINT64_MAX - 9), 11), Status::size);
    EXPECT_EQ(regions.attach(at(4096), UINT64_MAX), Status::size);
    EXPECT_EQ(regions.attach(at(UINT64_MAX - 9), 9), Status::ok);
    EXPECT_TRUE(regions.covers(UINT64_MAX - 9, UINT64_MAX));
}

/// 64 bytes of memory, each with the start of the region that it is in; 0 in none.
using Memory = std::vector<std::uint64_t>;

bool is_free(const Memory& memory, std::uint64_t first, std::uint64_t last)
{
    for (std::uint64_t byte = first; byte < last; ++byte) {
        if (memory[byte] != 0) {
            return false;
        }
    }
    return true;
}

void attach_both(Regions& regions, Memory& memory, std::uint64_t first, std::uint64_t last)
{
    const bool free = is_free(memory, first, last);
    ASSERT_EQ(regions.attach(at(first), last - first), free ? Status::ok : Status::rma_attach);
    for (std::uint64_t byte = first; free && byte < last; ++byte) {
        memory[byte] = first;
    }
}

void detach_both(Regions& regions, Memory& memory, std::uint64_t first)
{
    const bool starts = memory[first] == first;
    ASSERT_EQ(regions.detach(at(first)), starts ? Status::ok : Status::base);
    for (std::uint64_t& byte : memory) {
        byte = starts && byte == first ? 0 : byte;
    }
}

TEST(Regions, AgreeWithAMapOfEveryByte)
{
    fabric::sim::Random random(1);
    Regions regions;
    Memory memory(80);
    for (int round = 0; round < 100'000; ++round) {
        const std::uint64_t first = 1 + random.below(64);
        const std::uint64_t last = first + 1 + random.below(10);
        if (random.chance(30)) {
            attach_both(regions, memory, first, last);
        } else if (random.chance(40)) {
            detach_both(regions, memory, first);
        }
        bool covered = memory[first] != 0;
        for (std::uint64_t byte = first; byte < last; ++byte) {
            covered = covered && memory[byte] == memory[first];
        }
        ASSERT_EQ(regions.covers(first, last), covered) << round;
        ASSERT_FALSE(HasFatalFailure());
    }
}

} // namespace
} // namespace sidelight::rma
