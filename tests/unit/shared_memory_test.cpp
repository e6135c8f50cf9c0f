// SPDX-License-Identifier: BSD-3-Clause
#include "base/shared_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/bytes.hpp"
#include "unit/processes.hpp"

namespace sidelight::unit {
namespace {

bool is_open(int descriptor) { return fcntl(descriptor, F_GETFD) >= 0; }

TEST(RoundUp, GoesToTheNextMultiple)
{
    EXPECT_EQ(round_up(0, 64), 0U);
    EXPECT_EQ(round_up(1, 64), 64U);
    EXPECT_EQ(round_up(64, 64), 64U);
    EXPECT_EQ(round_up(65, 64), 128U);
}

TEST(MemoryFile, IsClosedWithItsOwner)
{
    File file = create_memory_file();
    ASSERT_TRUE(file);
    const int descriptor = file.descriptor();
    File moved = std::move(file);
    EXPECT_EQ(moved.descriptor(), descriptor);
    EXPECT_TRUE(is_open(descriptor));
    {
        const File owner = std::move(moved);
    }
    EXPECT_FALSE(is_open(descriptor));
}

/// A program without output may go on printing, in vain.
TEST(MemoryFile, IsNoneOfTheFirstThreeDescriptors)
{
    const pid_t child = start_process([] {
        close(STDIN_FILENO);
        close(STDOUT_FILENO);
        close(STDERR_FILENO);
        const File file = create_memory_file();
        return file.descriptor() > STDERR_FILENO && !is_open(STDIN_FILENO) &&
               !is_open(STDOUT_FILENO) && !is_open(STDERR_FILENO);
    });
    EXPECT_TRUE(went_well(child));
}

/// A file that became shorter would end processes that have it mapped.
TEST(MemoryFile, CannotBecomeShorter)
{
    const File file = create_memory_file();
    const Mapping mapping = Mapping::shared(file, 4 * page_size());
    ASSERT_TRUE(mapping);
    EXPECT_NE(ftruncate(file.descriptor(), 0), 0);
    EXPECT_EQ(errno, EPERM);
    EXPECT_TRUE(grow(file, 8 * page_size()));
}

/// vm.memfd_noexec=2 forbids files of memory that could be run.
TEST(MemoryFile, IsThereWhereNothingMayBeRun)
{
    const Mapping forbidden = Mapping::shared(create_memory_file(), 1);
    ASSERT_TRUE(forbidden);
    const pid_t outer = start_process([&] {
        if (unshare(CLONE_NEWPID) != 0) {
            return true; // it takes rights
        }
        return went_well(start_process([&] {
            const File setting(open("/proc/sys/vm/memfd_noexec", O_WRONLY | O_CLOEXEC));
            if (!setting || write(setting.descriptor(), "2", 1) != 1) {
                return true;
            }
            forbidden.data()[0] = std::byte{1};
            constexpr unsigned executable = 16; // MFD_EXEC of Linux 6.3
            return !File(memfd_create("other", MFD_CLOEXEC | executable)) && create_memory_file();
        }));
    });
    EXPECT_TRUE(went_well(outer));
    if (forbidden.data()[0] == std::byte{0}) {
        GTEST_SKIP() << "nothing can be forbidden here";
    }
}

TEST(MemoryFile, IsZeroedAndSharedByItsMappings)
{
    const File file = create_memory_file();
    const Mapping one = Mapping::shared(file, 100);
    const Mapping other = Mapping::shared(file, 3 * page_size());
    ASSERT_TRUE(one && other);
    EXPECT_EQ(one.bytes(), page_size());
    EXPECT_EQ(other.bytes(), 3 * page_size());
    EXPECT_NE(one.data(), other.data());
    EXPECT_TRUE(std::all_of(other.data(), other.data() + other.bytes(),
                            [](std::byte byte) { return byte == std::byte{0}; }));
    one.data()[99] = std::byte{7};
    EXPECT_EQ(other.data()[99], std::byte{7});
    other.data()[3 * page_size() - 1] = std::byte{9}; // the file has grown that far
}

TEST(MemoryFile, NeverShrinks)
{
    const File file = create_memory_file();
    const Mapping large = Mapping::shared(file, 4 * page_size());
    large.data()[4 * page_size() - 1] = std::byte{3};
    const Mapping small = Mapping::shared(file, 1);
    ASSERT_TRUE(small);
    EXPECT_EQ(large.data()[4 * page_size() - 1], std::byte{3});
}

TEST(MemoryFile, BeyondALimitOfTheUserIsAFailureAndNotTheEnd)
{
    const pid_t child = start_process([] {
        const File file = create_memory_file();
        const rlimit small{page_size(), page_size()};
        return setrlimit(RLIMIT_FSIZE, &small) == 0 && grow(file, page_size()) &&
               !grow(file, page_size() + 1) && errno == EFBIG &&
               !Mapping::shared(file, 2 * page_size());
    });
    EXPECT_TRUE(went_well(child));
}

TEST(MemoryFile, OutlivesItsDescriptorInAMapping)
{
    File file = create_memory_file();
    const Mapping mapping = Mapping::shared(file, 8);
    {
        const File closed = std::move(file);
    }
    mapping.data()[0] = std::byte{1};
    EXPECT_EQ(mapping.data()[0], std::byte{1});
}

TEST(Mapping, IsEmptyWhereItCannotBeMade)
{
    const File file = create_memory_file();
    EXPECT_FALSE(Mapping::shared(file, SIZE_MAX));
    EXPECT_FALSE(Mapping::shared(file, SIZE_MAX / 2 + 1));
    EXPECT_FALSE(Mapping::anonymous(SIZE_MAX));
    EXPECT_FALSE(Mapping::shared(File(), 1));
    EXPECT_EQ(Mapping().data(), nullptr);
    EXPECT_EQ(Mapping().bytes(), 0U);
}

TEST(Mapping, MovesWithItsOwner)
{
    Mapping first = Mapping::anonymous(1);
    ASSERT_TRUE(first);
    EXPECT_EQ(first.bytes(), page_size());
    std::byte* data = first.data();
    data[0] = std::byte{5};
    Mapping second = std::move(first);
    EXPECT_FALSE(first); // NOLINT: what is left is empty by contract
    EXPECT_EQ(second.data(), data);
    first = std::move(second);
    EXPECT_EQ(first.data(), data);
    EXPECT_EQ(first.data()[0], std::byte{5});
}

/// What a parent tells a child, or the other way round.
struct Letter {
    MemoryFileAddress address;
    std::uint64_t number;
};

TEST(MemoryFileProcesses, FindAndWriteEachOthersMemory)
{
    const File file = create_memory_file();
    const Mapping mapping = Mapping::shared(file, 4096);
    ASSERT_TRUE(mapping);
    const Channel to_child;
    const pid_t child = start_process([&] {
        Letter letter{};
        if (!to_child.receive(letter)) {
            return false;
        }
        const File theirs = open_memory_file(letter.address);
        const Mapping view = theirs ? Mapping::shared(theirs, 4096) : Mapping();
        if (!view || view.data() == mapping.data()) {
            return false;
        }
        std::memcpy(view.data() + 128, &letter.number, sizeof letter.number);
        return true;
    });
    EXPECT_TRUE(to_child.send(Letter{address_of(file), 12345}));
    EXPECT_TRUE(went_well(child));
    std::uint64_t written = 0;
    std::memcpy(&written, mapping.data() + 128, sizeof written);
    EXPECT_EQ(written, 12345U);
}

TEST(MemoryFileProcesses, MappingsCrossAFork)
{
    const File file = create_memory_file();
    const Mapping shared = Mapping::shared(file, 8);
    const Mapping alone = Mapping::anonymous(8);
    const pid_t child = start_process([&] {
        shared.data()[0] = std::byte{1};
        alone.data()[0] = std::byte{1};
        return true;
    });
    EXPECT_TRUE(went_well(child));
    EXPECT_EQ(shared.data()[0], std::byte{1});
    EXPECT_EQ(alone.data()[0], std::byte{0});
}

TEST(MemoryFileProcesses, AFileThatIsGoneIsNotFound)
{
    const Channel to_parent;
    const pid_t child = start_process([&] {
        const File file = create_memory_file();
        return to_parent.send(Letter{address_of(file), 0});
    });
    Letter letter{};
    EXPECT_TRUE(to_parent.receive(letter));
    EXPECT_TRUE(went_well(child));
    EXPECT_FALSE(open_memory_file(letter.address));
}

TEST(MemoryFile, AnotherFileWithItsDescriptorIsNotTakenForIt)
{
    const File file = create_memory_file();
    MemoryFileAddress address = address_of(file);
    EXPECT_TRUE(open_memory_file(address));
    ++address.inode;
    EXPECT_FALSE(open_memory_file(address));
    address = address_of(file);
    address.descriptor = 9999;
    EXPECT_FALSE(open_memory_file(address));
    EXPECT_FALSE(open_memory_file(MemoryFileAddress{}));
}

/// No huge page is taken from the system for it, and nothing stays mapped.
TEST(Mapping, PartsOfFilesOfHugePagesComeAndGo)
{
    const File file(memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB));
    struct statfs system {};
    if (!file || fstatfs(file.descriptor(), &system) != 0) {
        GTEST_SKIP() << "the system has none";
    }
    const auto huge = static_cast<std::size_t>(system.f_bsize);
    ASSERT_TRUE(grow(file, 2 * huge));
    constexpr std::size_t place = 4096 + 8;
    std::byte* data = nullptr;
    {
        const Mapping part = Mapping::of({address_of(file), huge + place, 100});
        ASSERT_TRUE(part);
        data = part.data();
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % huge, place);
    }
    unsigned char present = 0;
    EXPECT_NE(mincore(data - place, page_size(), &present), 0);
}

/// The owner may have closed its own, and have opened a device there.
TEST(MemoryFile, AnotherFileWithItsDescriptorIsNotOpened)
{
    const File file = create_memory_file();
    const File watch(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/fd/%d", file.descriptor());
    ASSERT_GE(inotify_add_watch(watch.descriptor(), path, IN_OPEN), 0);
    MemoryFileAddress address = address_of(file);
    ++address.inode;
    EXPECT_FALSE(open_memory_file(address));
    std::array<char, 256> events{};
    EXPECT_LT(read(watch.descriptor(), events.data(), events.size()), 0);
    --address.inode;
    EXPECT_TRUE(open_memory_file(address));
    EXPECT_GT(read(watch.descriptor(), events.data(), events.size()), 0);
}

} // namespace
} // namespace sidelight::unit
