// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/memory/present_pages.hpp"
#include "unit/processes.hpp"

namespace sidelight::unit {
namespace {

using host::memory::PageMap;

constexpr std::size_t page = 4096;

std::uintptr_t map(int how, bool touch)
{
    void* memory = mmap(nullptr, page, PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS, -1, 0);
    if (touch) {
        *static_cast<char*>(memory) = 1;
    }
    return reinterpret_cast<std::uintptr_t>(memory);
}

/// Where /proc/.../pagemap is open in this process; -1: nowhere.
int page_map_descriptor()
{
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        if (read_symlink(entry.path(), none).filename() == "pagemap") {
            return std::stoi(entry.path().filename());
        }
    }
    return -1;
}

TEST(PageMap, KnowsPrivatePages)
{
    PageMap map_of_pages;
    EXPECT_TRUE(map_of_pages.is_private(map(MAP_PRIVATE, true)));
    EXPECT_FALSE(map_of_pages.is_private(map(MAP_SHARED, true)));
    EXPECT_FALSE(map_of_pages.is_private(map(MAP_PRIVATE, false)));
}

TEST(PageMap, OpensItsFileOnce)
{
    PageMap map_of_pages;
    const std::uintptr_t memory = map(MAP_PRIVATE, true);
    EXPECT_TRUE(map_of_pages.is_private(memory));
    const int first = page_map_descriptor();
    ASSERT_GE(first, 0);
    close(dup(first)); // the next free one
    EXPECT_TRUE(map_of_pages.is_private(memory));
    EXPECT_EQ(page_map_descriptor(), first);
    map_of_pages.forget();
    EXPECT_EQ(page_map_descriptor(), -1);
}

/// As programs do that close all descriptors, and open others.
TEST(PageMap, LeavesToTheProgramWhatIsTheProgramsNow)
{
    const std::uintptr_t memory = map(MAP_PRIVATE, true);
    std::array<char, page> zeros{};
    int place = -1;
    int second = -1;
    {
        PageMap map_of_pages;
        EXPECT_TRUE(map_of_pages.is_private(memory));
        place = page_map_descriptor();
        ASSERT_GE(place, 0);
        const int other = open("/dev/zero", O_RDONLY);
        ASSERT_EQ(dup2(other, place), place);
        close(other);
        EXPECT_TRUE(map_of_pages.is_private(memory));
        EXPECT_EQ(read(place, zeros.data(), 8), 8);
        second = page_map_descriptor();
        ASSERT_GE(second, 0);
        ASSERT_EQ(dup2(place, second), second);
    }
    for (const int descriptor : {place, second}) {
        EXPECT_EQ(read(descriptor, zeros.data(), 8), 8);
        close(descriptor);
    }
}

} // namespace
} // namespace sidelight::unit
