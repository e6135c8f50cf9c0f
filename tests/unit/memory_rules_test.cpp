// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/rules.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "host/devices.hpp"
#include "host/memory_limit.hpp"
#include "unit/files.hpp"

namespace sidelight::host::memory {
namespace {

using unit::Files;

std::vector<Area> read(const std::string& text, Span span)
{
    const Files files;
    return read_areas(files.write("maps", text).c_str(), span);
}

Area heap()
{
    return read("1000-9000 rw-p 00000000 00:00 0     [heap]\n"
                "AnonHugePages:         0 kB\nVmFlags: rd wr mr mw me ac \n",
                {0x2000, 0x3000})
        .at(0);
}

TEST(MemoryAreas, AreReadFromTheKernelsText)
{
    const std::string text = "1000-2000 r-xp 00000000 fe:01 17   /usr/bin/a b\n"
                             "Size: 4 kB\nVmFlags: rd ex mr mw me \n"
                             "2000-4000 rw-s 00003000 00:01 99    /memfd:x (deleted)\n"
                             "VmFlags: rd wr sh mr mw me ms \n"
                             "4000-5000 rw-p 00000000 00:00 0 \n";
    const std::vector<Area> areas = read(text, {0x1000, 0x5000});
    ASSERT_EQ(areas.size(), 3U);
    EXPECT_EQ(areas[0].name, "/usr/bin/a b");
    EXPECT_TRUE(areas[0].executable && !areas[0].writable && !areas[0].shared);
    EXPECT_EQ(areas[1].span, (Span{0x2000, 0x4000}));
    EXPECT_EQ(areas[1].offset, 0x3000U);
    EXPECT_EQ(areas[1].inode, 99U);
    EXPECT_TRUE(areas[1].shared);
    EXPECT_EQ(areas[1].flags, "rd wr sh mr mw me ms ");
    EXPECT_EQ(areas[2].name, "");
    EXPECT_EQ(read(text, {0x2000, 0x2001}).size(), 1U);
    EXPECT_EQ(read(text, {0x5000, 0x6000}).size(), 0U);
    EXPECT_EQ(read("nonsense\n\n-\n1000-\n", {0, 0x6000}).size(), 0U);
    EXPECT_TRUE(cover(areas, {0x1800, 0x5000}));
    EXPECT_FALSE(cover(areas, {0x1800, 0x5001}));
    EXPECT_FALSE(cover({areas[0], areas[2]}, {0x1800, 0x5000}));
    EXPECT_FALSE(cover({}, {0x1800, 0x5000}));
}

TEST(MemoryRules, PlainMemoryIsTaken)
{
    EXPECT_EQ(refusal_of(heap(), 0), Refusal::none);
    Area area = heap();
    area.name = "[anon:libc malloc]";
    EXPECT_EQ(refusal_of(area, 0), Refusal::none);
    area.name = "/memfd:sidelight (deleted)"; // it was in a window before
    area.inode = 7;
    EXPECT_EQ(refusal_of(area, 0), Refusal::none);
}

TEST(MemoryRules, EverythingElseIsRefused)
{
    EXPECT_EQ(refusal_of(heap(), 0x1500), Refusal::special);
    for (const std::string flag : {"io", "pf", "ht", "mm", "dc", "dd", "wf", "um", "uw", "mg", "sl",
                                   "ss", "de", "lo", "gd", "zz"}) {
        Area area = heap();
        area.flags = "rd wr mr mw me " + flag + " ac ";
        EXPECT_EQ(refusal_of(area, 0), Refusal::special) << flag;
    }
    Area area = heap();
    area.flags.clear();
    EXPECT_EQ(refusal_of(area, 0), Refusal::special); // the kernel has not told
    for (const char* name : {"[stack]", "[vvar]", "/lib/libc.so.6"}) {
        area = heap();
        area.name = name;
        EXPECT_EQ(refusal_of(area, 0), Refusal::special) << name;
    }
    area = heap();
    area.inode = 5;
    EXPECT_EQ(refusal_of(area, 0), Refusal::special);
    area = heap();
    area.shared = true;
    EXPECT_EQ(refusal_of(area, 0), Refusal::special);
    area = heap();
    area.writable = false;
    EXPECT_EQ(refusal_of(area, 0), Refusal::not_writable);
    area = heap();
    area.executable = true;
    EXPECT_EQ(refusal_of(area, 0), Refusal::special);
}

TEST(MemoryRules, CopiesLieOnTheNodeOfTheThread)
{
    constexpr std::array<int, 4> here{1, -2, 1, 1};
    constexpr std::array<int, 2> spread{1, 0};
    EXPECT_TRUE(all_on_node(here, 1));
    EXPECT_FALSE(all_on_node(here, 0));
    EXPECT_FALSE(all_on_node(spread, 1));
}

TEST(MemoryRules, EachReasonHasAText)
{
    for (int reason = 1; reason <= static_cast<int>(Refusal::system); ++reason) {
        EXPECT_NE(std::string(text(static_cast<Refusal>(reason))), "") << reason;
    }
}

TEST(Devices, AreWhatIsNotKnownToBeNone)
{
    for (const char* harmless :
         {"/dev/null", "/dev/pts/3", "/dev/shm/vader_segment", "socket:[5]", "pipe:[7]",
          "anon_inode:[eventfd]", "anon_inode:[eventpoll]", "/home/dev/nvidia0"}) {
        EXPECT_FALSE(is_unknown_device(harmless)) << harmless;
    }
    for (const char* device : {"/dev/nvidia0", "/dev/infiniband/uverbs0", "/dev/never_heard_of",
                               "anon_inode:[io_uring]", "anon_inode:[vfio-device]"}) {
        EXPECT_TRUE(is_unknown_device(device)) << device;
    }
}

TEST(MemoryLimit, IsTheLeastOfAllGroups)
{
    const Files files;
    const auto left = [&](const std::string& groups) {
        return left_by_groups({files.write("cgroup", groups).c_str(), files.root() + "/fs"});
    };
    EXPECT_EQ(left("0::/job/step\n"), UINT64_MAX);
    files.write("fs/job/memory.max", "1000\n");
    files.write("fs/job/memory.current", "400\n");
    files.write("fs/job/step/memory.max", "max\n");
    files.write("fs/job/step/memory.current", "300\n");
    EXPECT_EQ(left("0::/job/step\n"), 600U);
    EXPECT_EQ(left("0::/elsewhere\n"), UINT64_MAX);
    files.write("fs/memory/a:b/memory.limit_in_bytes", "500\n");
    files.write("fs/memory/a:b/memory.usage_in_bytes", "600\n");
    EXPECT_EQ(left("2:cpu:/x\n1:memory:/a:b\n0::/job\n"), 0U);
}

} // namespace
} // namespace sidelight::host::memory
