// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/rules.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "base/shared_memory.hpp"
#include "fabric/sim/random.hpp"
#include "host/memory/devices.hpp"
#include "host/memory/huge_pages.hpp"
#include "host/memory/page_uses.hpp"

namespace sidelight::host::memory {
namespace {

class Collector final : public AreaVisitor {
public:
    bool visit(const Area& area) noexcept override
    {
        areas.push_back(area);
        return true;
    }
    std::vector<Area> areas;
};

std::vector<Area> read(const std::string& text, Span span)
{
    const File file = create_memory_file();
    Collector collector;
    if (write(file.descriptor(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) {
        lseek(file.descriptor(), 0, SEEK_SET);
        visit_areas(file.descriptor(), span, collector);
    }
    return collector.areas;
}

Area heap()
{
    return read("1000-9000 rw-p 00000000 00:00 0     [heap]\n"
                "AnonHugePages:         0 kB\nTHPeligible:           0\n"
                "VmFlags: rd wr mr mw me ac \n",
                {0x2000, 0x3000})
        .at(0);
}

TEST(MemoryAreas, AreReadFromTheKernelsText)
{
    const std::string text = "1000-2000 r-xp 00000000 fe:01 17   /usr/bin/a b\n"
                             "Size: 4 kB\nVmFlags: rd ex mr mw me \n"
                             "2000-4000 rw-s 00003000 00:01 99    /memfd:x (deleted)\n"
                             "AnonHugePages:      2048 kB\nTHPeligible:    1\n"
                             "VmFlags: rd wr sh mr mw me ms \n"
                             "4000-5000 rw-p 00000000 00:00 0 \n";
    const std::vector<Area> areas = read(text, {0x1000, 0x5000});
    ASSERT_EQ(areas.size(), 3U);
    EXPECT_STREQ(areas[0].name.data(), "/usr/bin/a b");
    EXPECT_TRUE(areas[0].executable && !areas[0].writable && !areas[0].shared);
    EXPECT_EQ(areas[1].span, (Span{0x2000, 0x4000}));
    EXPECT_EQ(areas[1].offset, 0x3000U);
    EXPECT_EQ(areas[1].inode, 99U);
    EXPECT_EQ(areas[1].huge_bytes, 2048U * 1024);
    EXPECT_TRUE(areas[1].huge_eligible && areas[1].shared);
    EXPECT_TRUE(has_flag(areas[1], "sh"));
    EXPECT_FALSE(has_flag(areas[1], "d "));
    EXPECT_STREQ(areas[2].name.data(), "");
    EXPECT_EQ(read(text, {0x2000, 0x2001}).size(), 1U);
    EXPECT_EQ(read(text, {0x5000, 0x6000}).size(), 0U);
    EXPECT_EQ(read("nonsense\n\n-\n1000-\n", {0, 0x6000}).size(), 0U);
}

TEST(MemoryAreas, LongTextsComeInPieces)
{
    std::string text;
    for (int at = 1; at <= 2000; ++at) {
        char line[64];
        std::snprintf(line, sizeof line, "%x000-%x000 rw-p 00000000 00:00 %d  name\n", at, at + 1,
                      at);
        text += line;
    }
    const std::vector<Area> areas = read(text, {0, UINTPTR_MAX});
    ASSERT_EQ(areas.size(), 2000U);
    EXPECT_EQ(areas[1999].inode, 2000U);
}

TEST(MemoryRules, PlainMemoryIsTaken)
{
    EXPECT_EQ(refusal_of(heap(), 0), Refusal::none);
    Area named = heap();
    named.name = {"[anon:libc malloc]"};
    EXPECT_EQ(refusal_of(named, 0), Refusal::none);
}

TEST(MemoryRules, EverythingElseIsRefused)
{
    EXPECT_EQ(refusal_of(heap(), 0x1500), Refusal::stack);
    for (const char* flag :
         {"io", "pf", "ht", "mm", "dc", "dd", "wf", "um", "uw", "mg", "sl", "ss", "de", "zz"}) {
        Area area = heap();
        std::snprintf(area.flags.data(), area.flags.size(), "rd wr mr mw me %s ac ", flag);
        EXPECT_EQ(refusal_of(area, 0), Refusal::special) << flag;
    }
    Area area = heap();
    area.flags = {};
    EXPECT_EQ(refusal_of(area, 0), Refusal::special); // the kernel has not told
    area = heap();
    area.flags = {"rd wr lo "};
    EXPECT_EQ(refusal_of(area, 0), Refusal::locked);
    area = heap();
    area.name = {"[stack]"};
    EXPECT_EQ(refusal_of(area, 0), Refusal::stack);
    area.name = {"[vvar]"};
    EXPECT_EQ(refusal_of(area, 0), Refusal::special);
    area = heap();
    area.inode = 5;
    EXPECT_EQ(refusal_of(area, 0), Refusal::file);
    area = heap();
    area.writable = false;
    EXPECT_EQ(refusal_of(area, 0), Refusal::not_writable);
    area = heap();
    area.executable = true;
    EXPECT_EQ(refusal_of(area, 0), Refusal::executable);
}

TEST(MemoryRules, OtherThreadsAndDevicesCount)
{
    const auto refusal = [](int threads, std::uint64_t pinned, SharePolicy policy, bool hold) {
        return refusal_of(ProcessState{threads, pinned}, policy, hold);
    };
    EXPECT_EQ(refusal(1, 0, SharePolicy::automatic, false), Refusal::none);
    EXPECT_EQ(refusal(2, 0, SharePolicy::automatic, false), Refusal::threads);
    EXPECT_EQ(refusal(2, 0, SharePolicy::automatic, true), Refusal::none);
    EXPECT_EQ(refusal(0, 0, SharePolicy::automatic, false), Refusal::threads);
    EXPECT_EQ(refusal(1, 4, SharePolicy::automatic, true), Refusal::pinned);
    EXPECT_EQ(refusal_of(ProcessState{1, 0, true}, SharePolicy::automatic, true), Refusal::pinned);
    EXPECT_EQ(refusal_of(ProcessState{1, 0, true}, SharePolicy::always, true), Refusal::none);
    EXPECT_EQ(refusal(2, 4, SharePolicy::always, false), Refusal::none);
    EXPECT_EQ(refusal(1, 0, SharePolicy::never, true), Refusal::policy);
}

TEST(Devices, AreFoundAmongOpenFiles)
{
    constexpr std::array<std::string_view, 2> wanted{"/dev/nu", "/no/such/device"};
    const File null(open("/dev/null", O_RDONLY | O_CLOEXEC));
    EXPECT_TRUE(has_open(wanted));
    constexpr std::array<std::string_view, 1> other{"/no/such/device"};
    EXPECT_FALSE(has_open(other));
}

TEST(HugePages, AreFoundInTheKernelsWords)
{
    EXPECT_EQ(shared_huge_pages("always within_size advise [never] deny force\n"),
              SharedHugePages::never);
    EXPECT_EQ(shared_huge_pages("always within_size [advise] never"), SharedHugePages::advised);
    EXPECT_EQ(shared_huge_pages("[always] within_size"), SharedHugePages::always);
    EXPECT_EQ(shared_huge_pages("[deny]"), SharedHugePages::never);
    for (const char* bad : {"", "]advise[", "advise"}) {
        EXPECT_EQ(shared_huge_pages(bad), SharedHugePages::never);
    }
}

TEST(HugePages, AreTouchedWhereAWholeOneFits)
{
    constexpr std::uintptr_t huge = 0x200000;
    Area area;
    area.span = {huge - 0x1000, 3 * huge + 0x1000};
    EXPECT_FALSE(touches_huge_page(area, area.span, huge));
    area.huge_eligible = true;
    EXPECT_TRUE(touches_huge_page(area, {huge, huge + 0x1000}, huge));
    EXPECT_FALSE(touches_huge_page(area, {huge - 0x1000, huge}, huge));
    EXPECT_FALSE(touches_huge_page(area, {3 * huge, 3 * huge + 0x1000}, huge));
    area.span = {huge + 0x1000, 2 * huge}; // room for smaller ones only
    EXPECT_TRUE(touches_huge_page(area, area.span, huge));
}

TEST(PageUses, AgreeWithACountForEachPage)
{
    fabric::sim::Random random(5);
    PageUses uses;
    std::vector<int> counts(64);
    std::vector<Span> added;
    for (int round = 0; round < 20'000; ++round) {
        if (added.size() < 12 && random.chance(50)) {
            const std::uintptr_t first = random.below(60);
            added.push_back({first, first + 1 + random.below(4)});
            uses.add(added.back());
            for (std::uintptr_t at = first; at < added.back().last; ++at) {
                ++counts[at];
            }
        } else if (!added.empty()) {
            const std::size_t which = random.below(added.size());
            const Span gone = added[which];
            added.erase(added.begin() + static_cast<std::ptrdiff_t>(which));
            std::vector<int> unused(64);
            for (const Span part : uses.remove(gone)) {
                for (std::uintptr_t at = part.first; at < part.last; ++at) {
                    ++unused[at];
                }
            }
            for (std::uintptr_t at = 0; at < counts.size(); ++at) {
                counts[at] -= gone.holds(at) ? 1 : 0;
                ASSERT_EQ(unused[at], gone.holds(at) && counts[at] == 0 ? 1 : 0) << at;
            }
        }
        for (std::uintptr_t at = 0; at < counts.size(); ++at) {
            ASSERT_EQ(uses.any({at, at + 1}), counts[at] > 0) << at;
        }
        ASSERT_EQ(uses.empty(), added.empty());
    }
}

} // namespace
} // namespace sidelight::host::memory
