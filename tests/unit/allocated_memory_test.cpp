// SPDX-License-Identifier: BSD-3-Clause
#include "host/allocated/allocated_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fabric/sim/random.hpp"
#include "host/allocated/block_sizes.hpp"
#include "host/allocated/huge_pages.hpp"
#include "host/memory/shareable.hpp"
#include "host/memory_limit.hpp"
#include "unit/processes.hpp"

namespace sidelight::unit {
namespace {

using host::allocated::AllocatedMemory;
using host::allocated::block_size;
using Freed = AllocatedMemory::Freed;

constexpr std::size_t page = 4096;

AllocatedMemory& memory() { return AllocatedMemory::of_process(); }

std::byte* allocate(std::size_t bytes, std::size_t alignment = 64)
{
    return static_cast<std::byte*>(memory().allocate(bytes, alignment, false));
}

/// What a peer maps of a block.
Mapping view_of(const void* block, std::size_t bytes)
{
    const auto where = memory().find(block, bytes);
    return where ? Mapping::of(*where) : Mapping();
}

TEST(BlockSizes, HoldWhatIsAskedForAndLittleMore)
{
    EXPECT_EQ(block_size(1, 64), 64U);
    EXPECT_EQ(block_size(65, 64), 128U);
    EXPECT_EQ(block_size(100, 4096), 4096U);
    EXPECT_EQ(block_size(5000, 256), 8192U);
    EXPECT_EQ(block_size(SIZE_MAX, 64), 0U);
    fabric::sim::Random random(3);
    for (int i = 0; i < 10'000; ++i) {
        const std::size_t bytes = 1 + random.below(std::uint64_t{1} << random.below(30));
        const std::size_t size = block_size(bytes, 64);
        ASSERT_GE(size, bytes);
        ASSERT_EQ(size % 64, 0U);
        ASSERT_LE(size, bytes + bytes / 4 + page);
        ASSERT_EQ(block_size(size, 64), size);
    }
}

TEST(AllocatedMemory, IsSharedFromItsBirth)
{
    for (const std::size_t bytes : {1UL, 100UL, 5000UL, 70'000UL, 3UL << 20, 40UL << 20}) {
        std::byte* block = allocate(bytes);
        ASSERT_NE(block, nullptr);
        const auto range = host::memory::share(block, bytes, SharePolicy::automatic);
        ASSERT_TRUE(range) << bytes;
        const Mapping view = view_of(block, bytes);
        ASSERT_TRUE(view);
        block[bytes - 1] = std::byte{77};
        EXPECT_EQ(view.data()[bytes - 1], std::byte{77});
        EXPECT_EQ(memory().free(block), Freed::yes);
        EXPECT_EQ(view.data()[0], view.data()[0]); // a late peer reads something
    }
}

/// What peers are told is known before they ask.
TEST(AllocatedMemory, SaysWhereItsFileIs)
{
    const std::byte* block = allocate(100);
    const auto range = memory().find(block, 100);
    ASSERT_TRUE(range);
    struct stat status {};
    ASSERT_EQ(fstat(range->file.descriptor, &status), 0);
    EXPECT_EQ(range->file, (MemoryFileAddress{getpid(), range->file.descriptor, status.st_ino}));
    EXPECT_EQ(memory().free(block), Freed::yes);
}

TEST(AllocatedMemory, IsAligned)
{
    std::vector<std::byte*> blocks;
    for (std::size_t alignment = 64; alignment <= (4U << 20); alignment *= 2) {
        for (const std::size_t bytes : {8UL, 300UL, 100'000UL}) {
            blocks.push_back(allocate(bytes, alignment));
            ASSERT_NE(blocks.back(), nullptr);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks.back()) % alignment, 0U);
            std::memset(blocks.back(), 1, bytes);
        }
    }
    for (const std::byte* block : blocks) {
        EXPECT_EQ(memory().free(block), Freed::yes);
    }
}

TEST(AllocatedMemory, KnowsItsBlocks)
{
    std::byte* small = allocate(100);
    std::byte* large = allocate(1 << 20);
    int local = 0;
    EXPECT_EQ(memory().free(&local), Freed::not_ours);
    EXPECT_EQ(memory().free(nullptr), Freed::not_ours);
    EXPECT_EQ(memory().free(small + 64), Freed::not_a_block);
    EXPECT_EQ(memory().free(large + page), Freed::not_a_block);
    EXPECT_EQ(memory().free(small), Freed::yes);
    EXPECT_EQ(memory().free(small), Freed::not_a_block);
    EXPECT_EQ(memory().free(large), Freed::yes);
    EXPECT_FALSE(memory().find(&local, 1));
}

TEST(AllocatedMemory, WhatTheSystemHasNotIsRefused)
{
    EXPECT_EQ(allocate(std::size_t{1} << 46), nullptr);
    EXPECT_EQ(allocate(SIZE_MAX), nullptr);
}

/// The kernel limits mappings, and neither the program nor its MPI starts a thread without one.
TEST(AllocatedMemory, MostMappingsAreLeftToOthers)
{
    const std::size_t most = host::most_mappings() / 4;
    if (most > 50'000) {
        GTEST_SKIP() << "a process may have too many";
    }
    std::vector<std::byte*> blocks;
    while (blocks.size() <= most && (blocks.empty() || blocks.back() != nullptr)) {
        blocks.push_back(allocate(66'000));
    }
    EXPECT_EQ(blocks.back(), nullptr);
    EXPECT_GT(blocks.size(), most / 2);
    for (const std::byte* block : blocks) {
        EXPECT_EQ(memory().free(block), block != nullptr ? Freed::yes : Freed::not_ours);
    }
    std::byte* next = allocate(70UL << 20);
    EXPECT_EQ(memory().free(next), Freed::yes);
}

/// Untouched memory takes none, so it lies where it is touched first.
TEST(AllocatedMemory, NothingIsTouched)
{
    constexpr std::size_t bytes = 64UL << 20;
    std::byte* block = allocate(bytes);
    std::vector<unsigned char> present(bytes / page);
    ASSERT_EQ(mincore(block, bytes, present.data()), 0);
    EXPECT_EQ(std::count(present.begin(), present.end(), 0),
              static_cast<std::ptrdiff_t>(present.size()));
    EXPECT_EQ(memory().free(block), Freed::yes);
}

/// Blocks of all sizes from several threads: nobody has the same bytes.
TEST(AllocatedMemory, ManyBlocksAtOnce)
{
    const auto storm = [](unsigned seed) {
        fabric::sim::Random random(seed);
        struct Block {
            std::byte* data = nullptr;
            std::size_t bytes = 0;
        };
        std::vector<Block> blocks(100);
        bool good = true;
        for (int round = 0; round < 5000 && good; ++round) {
            Block& block = blocks[random.below(blocks.size())];
            if (block.data != nullptr) {
                good = block.data[0] == std::byte(seed) &&
                       block.data[block.bytes - 1] == std::byte(seed) &&
                       memory().free(block.data) == Freed::yes;
            }
            block.bytes = 1 + random.below(std::uint64_t{1} << random.below(20));
            block.data = allocate(block.bytes);
            block.data[0] = block.data[block.bytes - 1] = std::byte(seed);
        }
        for (const Block& block : blocks) {
            good = good && (block.data == nullptr || memory().free(block.data) == Freed::yes);
        }
        EXPECT_TRUE(good);
    };
    std::thread other(storm, 1);
    storm(2);
    other.join();
}

TEST(AllocatedMemory, AChildOfForkHasItsOwn)
{
    constexpr std::size_t bytes = 100'000;
    std::byte* large = allocate(bytes);
    std::byte* small = allocate(100);
    std::memset(large, 1, bytes);
    std::memset(small, 2, 100);
    const pid_t child = start_process([&] {
        const bool good = large[bytes - 1] == std::byte{1} && small[99] == std::byte{2};
        std::memset(large, 3, bytes);
        std::memset(small, 4, 100);
        return good && allocate(100) == nullptr && !memory().find(small, 100) &&
               memory().free(small) == Freed::yes;
    });
    EXPECT_TRUE(went_well(child));
    EXPECT_EQ(large[bytes - 1], std::byte{1});
    EXPECT_EQ(small[99], std::byte{2});
    EXPECT_EQ(memory().free(large), Freed::yes);
    EXPECT_EQ(memory().free(small), Freed::yes);
}

TEST(AllocatedMemory, AChildsChildHasWhatTheChildWrote)
{
    std::byte* block = allocate(100);
    block[0] = std::byte{1};
    EXPECT_TRUE(went_well(start_process([&] {
        block[0] = std::byte{2};
        const pid_t grandchild = start_process([&] {
            const bool good = block[0] == std::byte{2};
            block[0] = std::byte{3};
            return good;
        });
        return went_well(grandchild) && block[0] == std::byte{2};
    })));
    EXPECT_EQ(block[0], std::byte{1});
    EXPECT_EQ(memory().free(block), Freed::yes);
}

/// Also of what is not kept when it is freed.
TEST(AllocatedMemory, WhatAChildOfForkFreesStaysItsParents)
{
    constexpr std::size_t bytes = 40UL << 20;
    std::byte* block = allocate(bytes);
    std::memset(block, 1, bytes);
    EXPECT_TRUE(went_well(start_process([&] { return memory().free(block) == Freed::yes; })));
    EXPECT_EQ(block[0], std::byte{1});
    EXPECT_EQ(block[bytes - 1], std::byte{1});
    EXPECT_EQ(memory().free(block), Freed::yes);
}

/// The pages of the file, in blocks of 512 bytes.
blkcnt_t blocks_of_file(const FileRange& range)
{
    struct stat status {};
    EXPECT_EQ(fstat(range.file.descriptor, &status), 0);
    return status.st_blocks;
}

void close_all_but(int wanted)
{
    for (int descriptor = STDERR_FILENO + 1; descriptor < FD_SETSIZE; ++descriptor) {
        if (descriptor != wanted) {
            close(descriptor);
        }
    }
}

constexpr std::size_t not_kept = 40UL << 20; ///< bytes of a block that is dropped when it is freed

std::byte* allocate_filled()
{
    std::byte* block = allocate(not_kept);
    std::memset(block, 1, not_kept);
    return block;
}

/// A child of fork, which looks when it is told whether it still has what was in that block.
pid_t start_reader(const Channel& told, const std::byte* block, bool closes)
{
    return start_process([&told, block, closes] {
        if (closes) {
            close_all_but(told.reading_end());
        }
        bool is_free = false;
        return told.receive(is_free) && block[0] == std::byte{1} &&
               block[not_kept - 1] == std::byte{1};
    });
}

/// It is given back when the child has ended.
void parent_frees(bool child_closes)
{
    std::byte* block = allocate_filled();
    const std::optional<FileRange> range = memory().find(block, not_kept);
    ASSERT_TRUE(range);
    const blkcnt_t full = blocks_of_file(*range);
    const Channel freed;
    const pid_t child = start_reader(freed, block, child_closes);
    EXPECT_EQ(memory().free(block), Freed::yes);
    EXPECT_TRUE(freed.send(true));
    EXPECT_TRUE(went_well(child));
    std::byte* next = allocate(not_kept);
    EXPECT_LE(blocks_of_file(*range), full - static_cast<blkcnt_t>(not_kept / 512));
    EXPECT_EQ(memory().free(next), Freed::yes);
}

TEST(AllocatedMemory, WhatItsParentFreesAChildOfForkStillHas) { parent_frees(false); }

/// As those do that become daemons.
TEST(AllocatedMemory, SoDoesOneThatHasClosedItsDescriptors) { parent_frees(true); }

/// No new descriptor in its scope.
class NoDescriptors {
public:
    NoDescriptors()
    {
        getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
        setrlimit(RLIMIT_NOFILE, &none);
    }
    ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
    NoDescriptors(const NoDescriptors&) = delete;
    NoDescriptors& operator=(const NoDescriptors&) = delete;

private:
    rlimit before_{};
};

/// What there was then is not given back; what comes later is.
TEST(AllocatedMemory, SoDoesOneWhoseParentHadNoDescriptorLeft)
{
    std::byte* block = allocate_filled();
    const std::optional<FileRange> range = memory().find(block, not_kept);
    ASSERT_TRUE(range);
    const Channel freed;
    pid_t child = -1;
    {
        const NoDescriptors none;
        child = start_reader(freed, block, false);
    }
    EXPECT_EQ(memory().free(block), Freed::yes);
    EXPECT_TRUE(freed.send(true));
    EXPECT_TRUE(went_well(child));
    const blkcnt_t before = blocks_of_file(*range);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(memory().free(allocate_filled()), Freed::yes);
    }
    EXPECT_LE(blocks_of_file(*range), before);
}

/// What only a child has that has ended, another one's staying.
TEST(AllocatedMemory, WhatLaterChildrenHadIsGivenBackBesideAnEarlierOne)
{
    std::byte* first = allocate_filled();
    const std::optional<FileRange> range = memory().find(first, not_kept);
    ASSERT_TRUE(range);
    const Channel freed;
    const pid_t early = start_reader(freed, first, false);
    std::byte* second = allocate_filled();
    const pid_t late = start_process([] { return pause() == 0; });
    const blkcnt_t full = blocks_of_file(*range);
    EXPECT_EQ(memory().free(first), Freed::yes);
    EXPECT_EQ(memory().free(second), Freed::yes);
    EXPECT_EQ(blocks_of_file(*range), full);
    kill(late, SIGKILL);
    EXPECT_FALSE(went_well(late));
    EXPECT_EQ(memory().free(allocate(not_kept)), Freed::yes);
    EXPECT_EQ(blocks_of_file(*range), full - static_cast<blkcnt_t>(not_kept / 512));
    EXPECT_TRUE(freed.send(true));
    EXPECT_TRUE(went_well(early));
}

std::chrono::nanoseconds processor_time()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// What it takes to free as many blocks as that, most of which are not kept.
std::chrono::nanoseconds time_of_freeing(std::size_t count, bool beside_child)
{
    std::vector<std::byte*> blocks(count);
    for (std::byte*& block : blocks) {
        block = allocate(200'000);
        block[0] = std::byte{1};
    }
    const pid_t child = beside_child ? start_process([] { return pause() == 0; }) : -1;
    const auto before = processor_time();
    for (const std::byte* block : blocks) {
        EXPECT_EQ(memory().free(block), Freed::yes);
    }
    const auto time = processor_time() - before;
    if (beside_child) {
        kill(child, SIGKILL);
        EXPECT_FALSE(went_well(child));
    }
    return time;
}

TEST(AllocatedMemory, AChildOfForkDoesNotMakeFreeingSlow)
{
    constexpr std::size_t count = 3000;
    const auto alone = time_of_freeing(count, false);
    EXPECT_LT(time_of_freeing(count, true), 6 * alone);
}

TEST(AllocatedMemory, FreedMemoryIsGivenBackBeyondSome)
{
    std::vector<std::byte*> blocks;
    for (int i = 0; i < 4; ++i) {
        blocks.push_back(allocate(32UL << 20));
        blocks.back()[0] = std::byte{9};
    }
    const Mapping first = view_of(blocks.front(), page);
    const Mapping last = view_of(blocks.back(), page);
    ASSERT_TRUE(first && last);
    for (const std::byte* block : blocks) {
        EXPECT_EQ(memory().free(block), Freed::yes);
    }
    EXPECT_EQ(first.data()[0], std::byte{0}); // nor was the second kept
    EXPECT_EQ(last.data()[0], std::byte{9});
}

TEST(AllocatedMemory, ANewSizeIsKeptWhateverWasFreedBefore)
{
    std::vector<std::byte*> before(80);
    std::generate(before.begin(), before.end(), [] { return allocate(1UL << 20); });
    for (const std::byte* block : before) {
        EXPECT_EQ(memory().free(block), Freed::yes);
    }
    std::byte* block = allocate(5UL << 20);
    block[0] = std::byte{7};
    EXPECT_EQ(memory().free(block), Freed::yes);
    std::byte* next = allocate(5UL << 20);
    EXPECT_EQ(next, block);
    EXPECT_EQ(next[0], std::byte{7});
    EXPECT_EQ(memory().free(next), Freed::yes);
}

TEST(AllocatedMemory, AnAlignedBlockIsFoundAgain)
{
    std::byte* aligned = allocate(100'000, 4UL << 20);
    std::byte* other = allocate(100'000);
    EXPECT_EQ(memory().free(aligned), Freed::yes);
    EXPECT_EQ(memory().free(other), Freed::yes);
    std::byte* next = allocate(100'000, 4UL << 20);
    EXPECT_EQ(next, aligned);
    EXPECT_EQ(memory().free(next), Freed::yes);
}

/// Neither blocks that are not kept when they are freed, nor sizes that come once.
TEST(AllocatedMemory, BlocksThatComeAndGoLeaveNothingInTheHeap)
{
    std::vector<std::byte*> many; // more than are kept
    for (std::size_t bytes = 0; bytes < (80UL << 20); bytes += 1UL << 20) {
        many.push_back(allocate(1UL << 20));
    }
    for (const std::byte* block : many) {
        EXPECT_EQ(memory().free(block), Freed::yes);
    }
    const std::size_t before = mallinfo2().uordblks;
    for (std::size_t i = 0; i < 10'000; ++i) {
        ASSERT_EQ(memory().free(allocate(40UL << 20)), Freed::yes);
        ASSERT_EQ(memory().free(allocate((40UL << 20) + i * page)), Freed::yes);
        ASSERT_EQ(memory().free(allocate(1UL << 17, 2 * page)), Freed::yes);
    }
    EXPECT_LT(mallinfo2().uordblks, before + 10'000);
}

TEST(HugePages, DecideByTheSystemsWords)
{
    using host::allocated::chosen_word;
    using host::allocated::HugePages;
    using host::allocated::would_have_huge_pages;
    EXPECT_EQ(chosen_word("always within_size [advise] never deny force\n"), "advise");
    EXPECT_EQ(chosen_word("always madvise never"), "");
    EXPECT_EQ(chosen_word("] ["), "");
    const HugePages always{2 << 20, true, true, false};
    const HugePages advised{2 << 20, false, true, false};
    EXPECT_TRUE(would_have_huge_pages(always, 2 << 20, false));
    EXPECT_FALSE(would_have_huge_pages(always, 1 << 20, false));
    EXPECT_FALSE(would_have_huge_pages(advised, 2 << 20, false));
    EXPECT_TRUE(would_have_huge_pages(advised, 2 << 20, true));
    EXPECT_FALSE(would_have_huge_pages(HugePages{}, 2 << 20, true));
}

} // namespace
} // namespace sidelight::unit
