// SPDX-License-Identifier: BSD-3-Clause
#include "rma/region/region_table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <vector>

#include <sys/mman.h>
#include <sys/stat.h>

#include "fabric/mapped/mapped_peer_memory.hpp"
#include "fabric/sim/random.hpp"
#include "host/library_threads.hpp"
#include "host/memory/shareable.hpp"
#include "rma/operation/target.hpp"
#include "rma/region/mapped_regions.hpp"
#include "unit/processes.hpp"

namespace sidelight::rma {
namespace {

using fabric::MappedPeerMemory;
using host::memory::share;
using host::memory::SharedRange;
using unit::Channel;
using unit::start_process;
using unit::went_well;
using Reach = MappedRegions::Reach;

constexpr std::size_t page = 4096;

const std::byte* at(std::uint64_t address) noexcept
{
    return reinterpret_cast<const std::byte*>(address);
}

std::uint64_t address_of(const void* data) noexcept
{
    return reinterpret_cast<std::uint64_t>(data);
}

/// An owner and a reader in one process, and memory that is attached.
class RegionTableTest : public testing::Test {
protected:
    RegionTableTest()
        : shared(Mapping::shared(file, page)),
          root(*new (shared.data()) RegionTableRoot{}),
          table(std::make_unique<RegionTable>(root, owner)),
          regions(root, reader, latest, target.regions_open)
    {
        target.handle_regions(true);
    }

    /// Memory with a file, of this process.
    std::byte* make(std::size_t bytes, FileRange& where) { return memory.make(bytes, where); }
    Reach reach(std::uint64_t address, std::uint64_t bytes)
    {
        return regions.find(address, bytes).reach;
    }
    /// How many places of the index are not what they were before `change`, which needs no larger
    /// one.
    template <class Change>
    std::uint64_t keys_changed_by(Change change)
    {
        const FileRange range{unpacked_file(root.process, root.inode), root.offset,
                              RegionBlock::bytes(root.capacity)};
        std::byte* block = reader.map(range);
        const RegionBlock words(block, root.capacity);
        std::vector<std::uint64_t> before;
        for (std::uint64_t place = 0; place < words.capacity(); ++place) {
            before.push_back(words.key(place).first);
        }
        change();
        EXPECT_EQ(words.capacity(), root.capacity);
        std::uint64_t changed = 0;
        for (std::uint64_t place = 0; place < words.capacity(); ++place) {
            changed += words.key(place).first != before[place] ? 1 : 0;
        }
        reader.unmap(block, range);
        return changed;
    }

    File file = create_memory_file();
    Mapping shared;
    MappedPeerMemory memory;
    MappedPeerMemory owner;
    MappedPeerMemory reader;
    RegionTableRoot& root;
    std::unique_ptr<RegionTable> table;
    Target target;
    LatestRegion& latest = target.latest;
    MappedRegions regions;
};

TEST_F(RegionTableTest, AreFoundWhileTheyAreAttached)
{
    EXPECT_EQ(reach(100, 1), Reach::none);
    ASSERT_EQ(table->attach(at(100), 50, std::nullopt), Status::ok);
    EXPECT_EQ(reach(100, 50), Reach::messages);
    EXPECT_EQ(reach(149, 1), Reach::messages);
    EXPECT_EQ(reach(150, 0), Reach::messages);
    EXPECT_EQ(reach(149, 2), Reach::none);
    EXPECT_EQ(reach(99, 1), Reach::none);
    EXPECT_EQ(reach(120, UINT64_MAX), Reach::none);
    EXPECT_EQ(table->detach(at(101)), Status::base);
    EXPECT_EQ(table->detach(at(100)), Status::ok);
    EXPECT_EQ(table->detach(at(100)), Status::base);
    EXPECT_FALSE(regions.current());
    EXPECT_EQ(reach(100, 1), Reach::none);
    EXPECT_TRUE(regions.current());
}

TEST_F(RegionTableTest, AreMappedAndUnmapped)
{
    FileRange where;
    std::byte* data = make(3 * page, where);
    FileRange part = where;
    part.offset += 100;
    part.bytes = 2 * page;
    ASSERT_EQ(table->attach(data + 100, 2 * page, part), Status::ok);
    const std::uint64_t base = address_of(data + 100);
    EXPECT_EQ(latest.at(base, 8), nullptr);
    const auto found = regions.find(base + 8, 8);
    ASSERT_EQ(found.reach, Reach::mapped);
    EXPECT_NE(found.data, data + 108);
    *found.data = std::byte{7};
    EXPECT_EQ(data[108], std::byte{7});
    EXPECT_EQ(latest.at(base + 8, 8), found.data);
    EXPECT_EQ(latest.at(base + 2 * page - 8, 8), found.data + 2 * page - 16);
    EXPECT_EQ(latest.at(base + 2 * page - 7, 8), nullptr);
    EXPECT_EQ(latest.at(base - 1, 1), nullptr);
    EXPECT_EQ(latest.at(base + 8, INT64_MAX), nullptr);
    EXPECT_EQ(latest.at(base - 4, 8), nullptr);
    EXPECT_EQ(latest.at(UINT64_MAX, 8), nullptr);
    EXPECT_EQ(latest.at(INT64_MAX, INT64_MAX), nullptr);
    target.handle_regions(false);
    EXPECT_EQ(latest.at(base + 8, 8), nullptr);
    EXPECT_EQ(latest.known_at(base + 8, 8), found.data);
    EXPECT_EQ(latest.known_at(base - 1, 8), nullptr);
    EXPECT_EQ(reach(base + 16, 8), Reach::mapped);
    EXPECT_EQ(latest.at(base + 16, 8), nullptr);
    target.handle_regions(true);
    EXPECT_EQ(latest.at(base + 8, 8), found.data);
    EXPECT_EQ(reader.mappings(), 2U); // with the table's own
    ASSERT_EQ(table->detach(data + 100), Status::ok);
    EXPECT_EQ(latest.at(base + 8, 8), nullptr);
    EXPECT_EQ(reach(base, 8), Reach::none);
    EXPECT_EQ(reader.mappings(), 1U);
    table.reset();
    EXPECT_EQ(reach(base, 8), Reach::none);
    EXPECT_EQ(reader.mappings(), 0U);
}

TEST_F(RegionTableTest, TheSameAddressIsNewMemoryAfterADetach)
{
    FileRange first;
    FileRange second;
    std::byte* one = make(page, first);
    std::byte* two = make(page, second);
    one[0] = std::byte{1};
    two[0] = std::byte{2};
    const std::byte* base = at(0x7000'0000);
    for (int round = 0; round < 100; ++round) {
        const bool odd = round % 2 == 1;
        ASSERT_EQ(table->attach(base, page, odd ? second : first), Status::ok);
        const auto found = regions.find(0x7000'0000, 8);
        ASSERT_EQ(found.reach, Reach::mapped);
        EXPECT_EQ(*found.data, odd ? std::byte{2} : std::byte{1});
        EXPECT_EQ(latest.at(0x7000'0000, 8), found.data);
        ASSERT_EQ(table->detach(base), Status::ok);
        EXPECT_EQ(latest.at(0x7000'0000, 8), nullptr);
        EXPECT_LE(reader.mappings(), 2U);
    }
}

TEST_F(RegionTableTest, AFileThatIsGoneIsReachedByMessages)
{
    FileRange where;
    std::byte* data = make(page, where);
    const FileRange gone{{.owner = 1 << 22, .descriptor = 3, .inode = 1}, 0, page};
    ASSERT_EQ(table->attach(at(page), page, gone), Status::ok);
    EXPECT_EQ(reach(page, 8), Reach::messages);
    ASSERT_EQ(table->attach(data, page, where), Status::ok);
    EXPECT_EQ(reach(address_of(data), 8), Reach::mapped);
    EXPECT_EQ(reach(page, 8), Reach::messages);
}

/// Whoever goes on by handles alone keeps nothing of what was attached.
TEST_F(RegionTableTest, WhatWasDetachedIsUnmappedByAHandlesLookUpToo)
{
    FileRange where;
    std::byte* attached = make(page, where);
    ASSERT_EQ(table->attach(attached, page, where), Status::ok);
    EXPECT_EQ(reach(address_of(attached), page), Reach::mapped);
    HandleRegion region{.first = page, .size = page, .all_bytes = page};
    ASSERT_EQ(table->expose(at(page), page, std::nullopt, false, region.name), Status::ok);
    ASSERT_EQ(regions.find(region).reach, Reach::messages);
    EXPECT_EQ(reader.mappings(), 2U); // with the table's own
    ASSERT_EQ(table->detach(attached), Status::ok);
    EXPECT_EQ(regions.find(region).reach, Reach::messages);
    EXPECT_EQ(reader.mappings(), 1U);
    EXPECT_EQ(latest.at(address_of(attached), 8), nullptr);
}

/// However many are known: who attaches and detaches all the time has neighbours with thousands.
TEST_F(RegionTableTest, ADetachConcernsNoOtherRegion)
{
    FileRange where;
    std::byte* data = make(3 * 64, where);
    const auto range = [&](std::uint64_t n) { return FileRange{where.file, n * 64, 64}; };
    for (std::uint64_t n = 0; n < 3; ++n) {
        ASSERT_EQ(table->attach(data + n * 64, 64, range(n)), Status::ok);
        ASSERT_EQ(reach(address_of(data + n * 64), 64), Reach::mapped);
    }
    HandleRegion region{.first = page, .size = page, .all_bytes = page};
    ASSERT_EQ(table->expose(at(page), page, std::nullopt, false, region.name), Status::ok);
    // Whoever looks up the second one does not find it any more.
    const FileRange block_range{unpacked_file(root.process, root.inode), root.offset,
                                RegionBlock::bytes(root.capacity)};
    std::byte* block = reader.map(block_range);
    ASSERT_NE(block, nullptr);
    RegionBlock words(block, root.capacity);
    words.begin_at(root.begin);
    words.slot(words.key(1).slot).identity = 0;
    ASSERT_EQ(table->withdraw(region.name), Status::ok);
    EXPECT_EQ(reach(address_of(data + 64), 64), Reach::mapped);
    for (std::uint64_t n = 0; n < RegionBlock::departures - 2; ++n) {
        ASSERT_EQ(table->detach(data + 128), Status::ok);
        ASSERT_EQ(table->attach(data + 128, 64, range(2)), Status::ok);
    }
    EXPECT_EQ(reach(address_of(data + 64), 64), Reach::mapped);
    ASSERT_EQ(table->detach(data), Status::ok);
    EXPECT_EQ(reach(address_of(data + 64), 64), Reach::mapped);
    EXPECT_EQ(reach(address_of(data), 64), Reach::none);
    reader.unmap(block, block_range);
}

/// Of so many nobody has a list.
TEST_F(RegionTableTest, ManyDetachesAreNoticed)
{
    constexpr std::uint64_t most = 3 * RegionBlock::departures;
    FileRange where;
    std::byte* data = make(most * 64, where);
    const auto range = [&](std::uint64_t n) { return FileRange{where.file, n * 64, 64}; };
    for (std::uint64_t count = 1; count <= most; ++count) {
        for (std::uint64_t n = 0; n < count; ++n) {
            ASSERT_EQ(table->attach(data + n * 64, 64, range(n)), Status::ok);
            ASSERT_EQ(reach(address_of(data + n * 64), 64), Reach::mapped);
        }
        for (std::uint64_t n = 0; n < count; ++n) {
            ASSERT_EQ(table->detach(data + n * 64), Status::ok);
        }
        ASSERT_EQ(reach(address_of(data), 64), Reach::none);
        ASSERT_EQ(reader.mappings(), 1U) << count; // the table's own
    }
}

/// What maps such pages beyond the end of their file makes it longer.
TEST_F(RegionTableTest, AFileOfHugePagesKeepsItsLength)
{
    const File huge(memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB));
    struct stat status {};
    if (!huge || fstat(huge.descriptor(), &status) != 0) {
        GTEST_SKIP() << "the system has none";
    }
    const auto bytes = static_cast<std::uint64_t>(status.st_blksize);
    ASSERT_TRUE(grow(huge, 2 * bytes));
    const FileRange where{address_of(huge), bytes, bytes};
    ASSERT_EQ(table->attach(at(bytes), bytes, where), Status::ok);
    EXPECT_EQ(reach(bytes, bytes), Reach::mapped);
    ASSERT_EQ(fstat(huge.descriptor(), &status), 0);
    EXPECT_EQ(static_cast<std::uint64_t>(status.st_size), 2 * bytes);
    ASSERT_TRUE(grow(huge, 3 * bytes));
    ASSERT_EQ(table->attach(at(2 * bytes), bytes, {{where.file, 2 * bytes, bytes}}), Status::ok);
    EXPECT_EQ(reach(2 * bytes, bytes), Reach::mapped);
    EXPECT_EQ(reader.mappings(), 3U); // with the table's own
}

TEST_F(RegionTableTest, AreAsManyAsOneLikes)
{
    constexpr std::uint64_t many = 5'000;
    FileRange where;
    std::byte* data = make(many * 64, where);
    const auto range = [&](std::uint64_t n) { return FileRange{where.file, n * 64, 32}; };
    // In an order that is neither up nor down; 1,237 has no divisor in common with 5,000.
    for (std::uint64_t step = 0; step < many; ++step) {
        const std::uint64_t n = step * 1'237 % many;
        ASSERT_EQ(table->attach(data + n * 64, 32, range(n)), Status::ok);
    }
    EXPECT_EQ(table->count(), many);
    for (std::uint64_t n = 0; n < many; ++n) {
        const auto found = regions.find(address_of(data + n * 64), 32);
        ASSERT_EQ(found.reach, Reach::mapped) << n;
        std::memcpy(found.data, &n, sizeof n);
        ASSERT_EQ(std::memcmp(data + n * 64, &n, sizeof n), 0);
        ASSERT_EQ(reach(address_of(data + n * 64), 33), Reach::none);
    }
    EXPECT_EQ(reader.mappings(), 2U);
    EXPECT_EQ(owner.mappings(), 1U); // the blocks before the last are gone
    for (std::uint64_t n = 0; n < many; n += 2) {
        ASSERT_EQ(table->detach(data + n * 64), Status::ok);
    }
    for (std::uint64_t n = 0; n < many; ++n) {
        ASSERT_EQ(reach(address_of(data + n * 64), 32), n % 2 == 0 ? Reach::none : Reach::mapped);
    }
}

/// Linux hands out memory at falling addresses, and programs give it back in any order: neither end
/// may cost the more the more regions there are.
TEST_F(RegionTableTest, TheIndexMovesItsShorterSide)
{
    constexpr std::uint64_t many = 10'000;
    constexpr std::uint64_t sampled = 99;
    const auto attach = [&](std::uint64_t n) {
        ASSERT_EQ(table->attach(at(n * 64), 64, std::nullopt), Status::ok);
    };
    const auto detach = [&](std::uint64_t n) { ASSERT_EQ(table->detach(at(n * 64)), Status::ok); };
    for (std::uint64_t n = many; n > 0; --n) {
        if (n % sampled == 0) {
            EXPECT_EQ(keys_changed_by([&] { attach(n); }), 1U) << n;
        } else {
            attach(n);
        }
    }
    EXPECT_EQ(keys_changed_by([&] { attach(many + 1); }), 1U);
    EXPECT_LE(keys_changed_by([&] { detach(many / 4); }), many / 4);
    EXPECT_LE(keys_changed_by([&] { attach(many / 4); }), many / 4);
    EXPECT_LE(keys_changed_by([&] { detach(many * 3 / 4); }), many / 4 + 1);
    EXPECT_LE(keys_changed_by([&] { attach(many * 3 / 4); }), many / 4 + 2);
    for (std::uint64_t n = 1; n <= many + 1; ++n) {
        if (n % sampled == 0) {
            EXPECT_EQ(keys_changed_by([&] { detach(n); }), 0U) << n;
        } else {
            detach(n);
        }
    }
    EXPECT_EQ(table->count(), 0U);
}

/// Regions come above and go below, or the other way around, and now and then anywhere, so the
/// index begins everywhere in its ring, and grows wherever it begins.
TEST_F(RegionTableTest, AreFoundWhereverTheIndexBegins)
{
    constexpr std::uint64_t bytes = 48; // of 64: none touch
    fabric::sim::Random random(5);
    std::map<std::uint64_t, std::uint64_t> expected; // first and last
    const auto attach = [&](std::uint64_t first) {
        const bool free = expected.try_emplace(first, first + bytes).second;
        ASSERT_EQ(table->attach(at(first), bytes, std::nullopt),
                  free ? Status::ok : Status::rma_attach);
    };
    const auto detach = [&](std::uint64_t first) {
        ASSERT_EQ(table->detach(at(first)), expected.erase(first) != 0 ? Status::ok : Status::base);
    };
    constexpr std::uint64_t middle = 1'000'000;
    attach(middle * 64);
    std::uint64_t wraps = 0;
    std::uint64_t begin = root.begin;
    for (std::uint64_t round = 0; round < 60'000; ++round) {
        const bool rising = round / 5'000 % 2 == 0;
        const std::uint64_t lowest = expected.begin()->first;
        const std::uint64_t highest = std::prev(expected.end())->first;
        const std::uint64_t most = 20 + round / 200; // up to 320: it grows at several begins
        if (expected.size() < most) {
            attach(rising ? highest + 64 : lowest - 64);
        } else {
            detach(rising ? lowest : highest);
        }
        const std::uint64_t any = lowest + random.below((highest - lowest) / 64 + 1) * 64;
        if (random.chance(30) && expected.size() > 2) {
            expected.contains(any) ? detach(any) : attach(any);
        }
        const auto after = expected.upper_bound(any);
        const bool there = after != expected.begin() && std::prev(after)->first == any;
        ASSERT_EQ(reach(any + 1, bytes - 1), there ? Reach::messages : Reach::none) << round;
        ASSERT_EQ(reach(any + bytes + 1, 1), Reach::none) << round;
        ASSERT_EQ(table->region_of({any + 1, any + 2}).first, there ? any : 0U) << round;
        ASSERT_EQ(table->count(), expected.size());
        const std::uint64_t mask = root.capacity - 1;
        wraps += (root.begin & mask) != 0 && (begin & mask) == 0 ? 1 : 0;
        begin = root.begin;
    }
    EXPECT_GT(wraps, 20U);
    EXPECT_EQ(root.capacity, 512U);
}

TEST_F(RegionTableTest, AgreeWithAMapOfEveryByte)
{
    fabric::sim::Random random(2);
    std::vector<std::uint64_t> starts_at(400); // the region that each byte is in; 0: none
    for (int round = 0; round < 50'000; ++round) {
        const std::uint64_t first = 1 + random.below(380);
        const std::uint64_t last = first + 1 + random.below(5);
        bool free = true;
        bool covered = true;
        for (std::uint64_t byte = first; byte < last; ++byte) {
            free = free && starts_at[byte] == 0;
            covered = covered && starts_at[byte] != 0;
        }
        ASSERT_EQ(table->covers(first, last), covered) << round;
        ASSERT_EQ(reach(first, last - first), covered ? Reach::messages : Reach::none) << round;
        if (random.chance(40)) {
            ASSERT_EQ(table->attach(at(first), last - first, std::nullopt),
                      free ? Status::ok : Status::rma_attach);
            for (std::uint64_t byte = first; free && byte < last; ++byte) {
                starts_at[byte] = first;
            }
        } else if (random.chance(40)) {
            const bool starts = starts_at[first] == first;
            ASSERT_EQ(table->detach(at(first)), starts ? Status::ok : Status::base);
            for (std::uint64_t byte = first; starts && starts_at[byte] == first; ++byte) {
                starts_at[byte] = 0;
            }
        }
    }
}

TEST_F(RegionTableTest, RefuseToOverlapOrToWrap)
{
    ASSERT_EQ(table->attach(at(100), 50, std::nullopt), Status::ok);
    EXPECT_EQ(table->attach(at(100), 50, std::nullopt), Status::rma_attach);
    EXPECT_EQ(table->attach(at(50), 51, std::nullopt), Status::rma_attach);
    EXPECT_EQ(table->attach(at(149), 1, std::nullopt), Status::rma_attach);
    EXPECT_EQ(table->attach(at(120), 0, std::nullopt), Status::rma_attach);
    EXPECT_EQ(table->attach(at(0), 1000, std::nullopt), Status::rma_attach);
    EXPECT_EQ(table->attach(at(50), 50, std::nullopt), Status::ok);
    EXPECT_EQ(table->attach(at(150), 1, std::nullopt), Status::ok);
    EXPECT_EQ(table->attach(at(UINT64_MAX - 9), 11, std::nullopt), Status::size);
    EXPECT_EQ(reach(60, 91), Reach::messages); // three that touch
    EXPECT_EQ(reach(60, 92), Reach::none);
    EXPECT_EQ(table->detach(at(100)), Status::ok);
    EXPECT_EQ(reach(60, 91), Reach::none);
}

/// The owner attaches and detaches all the while; what the reader finds is always whole.
TEST_F(RegionTableTest, AreReadWhileTheyChange)
{
    constexpr std::uint64_t slots = 300;
    const Channel ready;
    auto& over = *new (shared.data() + 1024) std::atomic<bool>{false};
    auto& read = *new (shared.data() + 1032) std::atomic<bool>{false};
    const pid_t child = start_process([&] {
        // Its own table in the shared root: it is the owner, not the parent.
        MappedPeerMemory mine;
        RegionTable changing(root, mine);
        FileRange where;
        std::byte* data = mine.make(slots * 16, where);
        for (std::uint64_t n = 0; n < slots; ++n) {
            std::memcpy(data + n * 16, &n, sizeof n);
        }
        bool good = ready.send(1);
        fabric::sim::Random random(3);
        std::vector<bool> attached(slots);
        for (int round = 0; round < 200'000 || !read; ++round) {
            const std::uint64_t n = random.below(slots);
            const auto base = at(0x10'0000 + n * 16);
            const FileRange range{where.file, n * 16, 16};
            good = good && (attached[n] ? changing.detach(base)
                                        : changing.attach(base, 16, range)) == Status::ok;
            attached[n] = !attached[n];
        }
        over = true;
        return good;
    });
    int started = 0;
    ASSERT_TRUE(ready.receive(started));
    fabric::sim::Random random(4);
    std::uint64_t found = 0;
    std::uint64_t wrong = 0;
    while (!over) {
        const std::uint64_t n = random.below(slots);
        const auto here = regions.find(0x10'0000 + n * 16, 16);
        if (here.reach == Reach::mapped) {
            std::uint64_t number = 0;
            std::memcpy(&number, here.data, sizeof number);
            wrong += number == n ? 0 : 1;
            read = ++found > 1000;
        }
        wrong += here.reach == Reach::messages && !over ? 1 : 0;
    }
    EXPECT_TRUE(went_well(child));
    EXPECT_EQ(wrong, 0U) << "of " << found;
    EXPECT_GT(found, 1000U);
}

/// Memory is unmapped and mapped again at the same address, with a peer that has it mapped.
TEST_F(RegionTableTest, MemoryThatComesBackAtTheSameAddressIsNew)
{
    if (!host::program_is_alone()) {
        GTEST_SKIP() << "the sanitizer has started a thread";
    }
    const Channel to_peer;
    const Channel to_owner;
    auto* address = static_cast<std::byte*>(
        mmap(nullptr, 4 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    const pid_t peer = start_process([&] {
        int round = 0;
        bool good = true;
        while (good && to_peer.receive(round) && round < 50) {
            auto found = regions.find(address_of(address) + 8, 8);
            good =
                found.reach == Reach::mapped && *found.data == std::byte(round) && to_owner.send(1);
            *found.data = std::byte{200};
            good = good && to_owner.send(1) && to_peer.receive(round) &&
                   latest.at(address_of(address) + 8, 8) == nullptr &&
                   regions.find(address_of(address) + 8, 8).reach == Reach::none &&
                   reader.mappings() == 1 && to_owner.send(1);
        }
        return good;
    });
    bool good = true;
    for (int round = 0; round < 50 && good; ++round) {
        int answer = 0;
        mmap(address, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0);
        address[8] = std::byte(round);
        SharedRange range = share(address, 4 * page, SharePolicy::in_place);
        ASSERT_TRUE(range) << text(range.refusal());
        ASSERT_EQ(table->attach(address, 4 * page, range.where()), Status::ok);
        good = to_peer.send(round) && to_owner.receive(answer) && to_owner.receive(answer) &&
               address[8] == std::byte{200};
        ASSERT_EQ(table->detach(address), Status::ok);
        range.release();
        munmap(address, 4 * page);
        good = good && to_peer.send(round) && to_owner.receive(answer);
    }
    EXPECT_TRUE(good);
    EXPECT_TRUE(to_peer.send(50));
    EXPECT_TRUE(went_well(peer));
}

} // namespace
} // namespace sidelight::rma
