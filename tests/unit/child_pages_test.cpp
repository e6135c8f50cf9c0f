// SPDX-License-Identifier: BSD-3-Clause
#include "base/child_pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "unit/processes.hpp"

namespace sidelight::unit {
namespace {

/// The parent has closed the file: its child has a copy, and holes stay holes.
TEST(ChildPages, AChildWithoutTheFileHasPagesOfItsOwn)
{
    constexpr std::size_t pages = 3000;
    const std::size_t bytes = pages * page_size();
    File file = create_memory_file();
    const Mapping mapping = Mapping::shared(file, bytes);
    ASSERT_TRUE(mapping);
    file = File();
    mapping.data()[0] = std::byte{1};
    mapping.data()[bytes - 1] = std::byte{2};
    const pid_t child = start_process([&] {
        keep_apart_in_child(mapping.data(), bytes, file, 0);
        const bool good = mapping.data()[0] == std::byte{1} &&
                          mapping.data()[bytes - 1] == std::byte{2} &&
                          mapping.data()[bytes / 2] == std::byte{0};
        std::memset(mapping.data(), 3, bytes);
        return good;
    });
    EXPECT_TRUE(went_well(child));
    EXPECT_EQ(mapping.data()[0], std::byte{1});
    EXPECT_EQ(mapping.data()[bytes - 1], std::byte{2});
    std::array<unsigned char, pages> present{};
    ASSERT_EQ(mincore(mapping.data(), bytes, present.data()), 0);
    struct sysinfo system {};
    ASSERT_EQ(sysinfo(&system), 0);
    if (system.freeswap == system.totalswap) { // else holes are not told from what is swapped out
        EXPECT_EQ(std::count(present.begin(), present.end(), 1), 2);
    }
}

/// Some of the pages may be gone, or not be readable: that is no fault.
TEST(ChildPages, AChildWithoutTheFileLeavesWhatItCannotRead)
{
    const std::size_t bytes = 3 * page_size();
    File file = create_memory_file();
    const Mapping mapping = Mapping::shared(file, bytes);
    ASSERT_TRUE(mapping);
    file = File();
    std::byte* const last = mapping.data() + 2 * page_size();
    mapping.data()[0] = std::byte{1};
    *last = std::byte{2};
    EXPECT_TRUE(went_well(start_process([&] {
        munmap(mapping.data() + page_size(), page_size());
        keep_apart_in_child(mapping.data(), bytes, file, 0);
        const bool good = mapping.data()[0] == std::byte{1} && *last == std::byte{2};
        mapping.data()[0] = *last = std::byte{3};
        return good;
    })));
    EXPECT_EQ(mapping.data()[0], std::byte{1});
    EXPECT_EQ(*last, std::byte{2});
}

} // namespace
} // namespace sidelight::unit
