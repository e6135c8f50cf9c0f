// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/shareable.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/library_threads.hpp"
#include "host/memory/address_space.hpp"
#include "unit/open_files.hpp"
#include "unit/processes.hpp"

namespace sidelight::unit {
namespace {

using host::memory::Refusal;
using host::memory::share;
using host::memory::SharedRange;

constexpr std::size_t page = 4096;

std::byte pattern(std::size_t at, unsigned seed) { return std::byte(at * 7 + at / page + seed); }

void fill(std::byte* memory, std::size_t size, unsigned seed = 0)
{
    for (std::size_t at = 0; at < size; ++at) {
        memory[at] = pattern(at, seed);
    }
}

bool holds(const std::byte* memory, std::size_t size, unsigned seed = 0)
{
    for (std::size_t at = 0; at < size; ++at) {
        if (memory[at] != pattern(at, seed)) {
            return false;
        }
    }
    return true;
}

/// What a peer maps of it: here the same process, through the same address.
struct View {
    explicit View(const FileRange& where) : mapping(Mapping::of(where)), data(mapping.data()) {}
    Mapping mapping;
    std::byte* data;
};

bool is_shared(const void* address)
{
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const auto areas = host::memory::areas_in({at, at + 1}, host::memory::Detail::mappings);
    return areas.size() == 1 && areas.front().shared;
}

/// Kilobytes of this process by a line of /proc/self/status, such as "VmHWM".
std::size_t kilobytes(const std::string& name)
{
    FILE* status = std::fopen("/proc/self/status", "re");
    char line[256];
    std::size_t found = 0;
    while (status != nullptr && std::fgets(line, sizeof line, status) != nullptr) {
        std::sscanf(line, (name + ": %zu").c_str(), &found);
    }
    std::fclose(status);
    return found;
}

/// Memory of its own, with guards around it so that no neighbour joins it.
class Pages {
public:
    explicit Pages(std::size_t count)
        : bytes_((count + 2) * page),
          all_(static_cast<std::byte*>(
              mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)))
    {
        mprotect(data(), count * page, PROT_READ | PROT_WRITE);
    }
    ~Pages() { munmap(all_, bytes_); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    [[nodiscard]] std::byte* data() const { return all_ + page; }
    [[nodiscard]] std::size_t bytes() const { return bytes_ - 2 * page; }

private:
    std::size_t bytes_;
    std::byte* all_;
};

SharedRange share_in_place(const Pages& memory)
{
    return share(memory.data(), memory.bytes(), SharePolicy::in_place);
}

/// Replaces pages, which needs a program without threads.
class ReplacedMemory : public testing::Test {
protected:
    void SetUp() override
    {
#ifdef __SANITIZE_THREAD__
        GTEST_SKIP() << "the sanitizer has a thread and mappings of its own";
#endif
        if (!host::program_is_alone()) {
            GTEST_SKIP() << "the sanitizer has started a thread";
        }
        const Pages memory(1);
        if (const SharedRange range = share_in_place(memory); !range) {
            GTEST_SKIP() << text(range.refusal());
        }
    }
};

// What nobody has asked to be replaced.

TEST(UserMemory, IsLeftAloneUnlessAskedFor)
{
    const Pages memory(4);
    fill(memory.data(), memory.bytes());
    for (const SharePolicy policy :
         {SharePolicy::automatic, SharePolicy::always, SharePolicy::never}) {
        const SharedRange range = share(memory.data(), memory.bytes(), policy);
        EXPECT_EQ(range.refusal(), Refusal::not_asked);
        EXPECT_FALSE(is_shared(memory.data()));
    }
    static int in_file = 1;
    int local = 0;
    EXPECT_EQ(share(&in_file, sizeof in_file, SharePolicy::automatic).refusal(),
              Refusal::not_asked);
    EXPECT_EQ(share(&local, sizeof local, SharePolicy::automatic).refusal(), Refusal::not_asked);
}

TEST(UserMemory, MemoryThatIsNotThereIsARefusal)
{
    const Pages memory(4);
    for (const SharePolicy policy : {SharePolicy::automatic, SharePolicy::in_place}) {
        EXPECT_EQ(share(nullptr, 1, policy).refusal(), Refusal::no_memory_there);
        EXPECT_EQ(share(memory.data(), 0, policy).refusal(), Refusal::no_memory_there);
        EXPECT_EQ(share(memory.data(), SIZE_MAX, policy).refusal(), Refusal::no_memory_there);
    }
}

TEST(UserMemory, SharedMemoryIsUsedAsItIs)
{
    const std::string name = "/user-memory-" + std::to_string(getpid());
    for (const bool named : {true, false}) {
        const File file(shm_open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
        ASSERT_TRUE(file);
        if (!named) {
            shm_unlink(name.c_str());
        }
        const Mapping mapping = Mapping::shared(file, 4 * page);
        const SharedRange range = share(mapping.data() + page + 8, 2 * page, SharePolicy::never);
        ASSERT_TRUE(range) << text(range.refusal());
        EXPECT_EQ(range.where().offset, page + 8);
        const View view(range.where());
        ASSERT_NE(view.data, nullptr);
        view.data[1] = std::byte{11};
        EXPECT_EQ(mapping.data()[page + 9], std::byte{11});
    }
    shm_unlink(name.c_str());
}

/// The program closes the descriptor that peers go through, and opens another file in its place.
TEST(UserMemory, AFileOfTheProgramsInThePlaceOfOneThatItClosedStaysOpen)
{
    const File file = create_memory_file();
    const Mapping mapping = Mapping::shared(file, page);
    SharedRange range = share(mapping.data(), page, SharePolicy::automatic);
    ASSERT_TRUE(range) << text(range.refusal());
    const int number = range.where().file.descriptor;
    close(number);
    const int other = open("/dev/null", O_RDWR | O_CLOEXEC);
    ASSERT_EQ(other, number);
    EXPECT_EQ(View(range.where()).data, nullptr);
    {
        const SharedRange again = share(mapping.data(), page, SharePolicy::automatic);
        EXPECT_NE(View(again.where()).data, nullptr);
    }
    range.release();
    EXPECT_EQ(fcntl(other, F_GETFD), FD_CLOEXEC);
    close(other);
}

/// Closing any descriptor of a file gives up all record locks that the process has on it.
TEST(UserMemory, RecordLocksOfTheProgramStay)
{
    const File file(memfd_create("program", MFD_CLOEXEC));
    const Mapping mapping = Mapping::shared(file, page);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    ASSERT_EQ(fcntl(file.descriptor(), F_SETLK, &lock), 0);
    {
        const SharedRange range = share(mapping.data(), page, SharePolicy::automatic);
        ASSERT_TRUE(range) << text(range.refusal());
        EXPECT_NE(View(range.where()).data, nullptr);
    }
    EXPECT_TRUE(went_well(start_process(
        [&] { return fcntl(file.descriptor(), F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK; })));
}

/// As a compositor seals what it shows to others.
TEST(UserMemory, MemoryThatOthersCannotWriteToIsNone)
{
    const File file = create_memory_file();
    const Mapping mapping = Mapping::shared(file, page);
    ASSERT_EQ(fcntl(file.descriptor(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
    EXPECT_EQ(share(mapping.data(), page, SharePolicy::automatic).refusal(), Refusal::unreachable);
}

TEST(UserMemory, SharedMemoryOfTwoFilesIsNone)
{
    const File one = create_memory_file();
    const File other = create_memory_file();
    ASSERT_TRUE(grow(one, page) && grow(other, page));
    const Pages memory(2);
    ASSERT_TRUE(map_over(memory.data(), page, one, 0, MAP_SHARED));
    ASSERT_TRUE(map_over(memory.data() + page, page, other, 0, MAP_SHARED));
    EXPECT_EQ(share(memory.data(), 2 * page, SharePolicy::automatic).refusal(), Refusal::not_asked);
    EXPECT_TRUE(share(memory.data() + page, page, SharePolicy::automatic));
    ASSERT_EQ(mprotect(memory.data(), page, PROT_READ), 0);
    EXPECT_EQ(share(memory.data(), page, SharePolicy::automatic).refusal(), Refusal::not_writable);
}

// What is replaced.

TEST_F(ReplacedMemory, StaysWhereAndWhatItIs)
{
    const Pages memory(6);
    fill(memory.data(), memory.bytes());
    SharedRange range = share_in_place(memory);
    ASSERT_TRUE(range) << text(range.refusal());
    EXPECT_TRUE(is_shared(memory.data()));
    EXPECT_TRUE(holds(memory.data(), memory.bytes()));
    {
        const View view(range.where());
        ASSERT_NE(view.data, nullptr);
        EXPECT_TRUE(holds(view.data, memory.bytes()));
        fill(view.data, memory.bytes(), 5);
        EXPECT_TRUE(holds(memory.data(), memory.bytes(), 5));
        range.release();
        EXPECT_FALSE(is_shared(memory.data()));
        EXPECT_TRUE(holds(memory.data(), memory.bytes(), 5));
        view.data[0] = ~view.data[0]; // a peer that is late
    }
    EXPECT_TRUE(holds(memory.data(), memory.bytes(), 5));
    range = share_in_place(memory); // again
    EXPECT_TRUE(range) << text(range.refusal());
    EXPECT_TRUE(holds(memory.data(), memory.bytes(), 5));
}

/// An allocator that gives pages back expects zeros in them: calloc of jemalloc.
TEST_F(ReplacedMemory, PagesThatAreGivenBackLaterAreZero)
{
    const Pages memory(4);
    fill(memory.data(), memory.bytes(), 1);
    share_in_place(memory).release();
    ASSERT_EQ(madvise(memory.data() + page, 2 * page, MADV_DONTNEED), 0);
    for (std::size_t at = page; at < 3 * page; ++at) {
        ASSERT_EQ(memory.data()[at], std::byte{0}) << at;
    }
    EXPECT_EQ(memory.data()[0], pattern(0, 1));
    EXPECT_EQ(memory.data()[3 * page], pattern(3 * page, 1));
}

/// realloc may move and enlarge a mapping.
TEST_F(ReplacedMemory, PagesThatWereGivenBackMayGrow)
{
    void* first =
        mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    auto* memory = static_cast<std::byte*>(first);
    fill(memory, 4 * page);
    share(memory, 4 * page, SharePolicy::in_place).release();
    void* moved = mremap(memory, 4 * page, 64 * page, MREMAP_MAYMOVE);
    ASSERT_NE(moved, MAP_FAILED);
    memory = static_cast<std::byte*>(moved);
    EXPECT_TRUE(holds(memory, 4 * page));
    EXPECT_EQ(memory[64 * page - 1], std::byte{0});
    memory[64 * page - 1] = std::byte{1};
    munmap(memory, 64 * page);
}

TEST_F(ReplacedMemory, OnlyWholePagesAreReplaced)
{
    const Pages memory(4);
    fill(memory.data(), memory.bytes());
    EXPECT_EQ(share(memory.data() + 16, page, SharePolicy::in_place).refusal(), Refusal::edges);
    EXPECT_EQ(share(memory.data(), page + 16, SharePolicy::in_place).refusal(), Refusal::edges);
    const SharedRange middle = share(memory.data() + page, 2 * page, SharePolicy::in_place);
    ASSERT_TRUE(middle) << text(middle.refusal());
    EXPECT_FALSE(is_shared(memory.data()));
    EXPECT_FALSE(is_shared(memory.data() + 3 * page));
    EXPECT_TRUE(holds(memory.data(), memory.bytes()));
}

TEST_F(ReplacedMemory, RangesInsideAnotherShareItsPages)
{
    const Pages memory(4);
    SharedRange all = share_in_place(memory);
    ASSERT_TRUE(all);
    SharedRange part = share(memory.data() + page + 8, 100, SharePolicy::automatic);
    ASSERT_TRUE(part) << text(part.refusal());
    EXPECT_EQ(part.where().offset, page + 8);
    all.release();
    EXPECT_TRUE(is_shared(memory.data()));
    part.release();
    EXPECT_FALSE(is_shared(memory.data()));
}

/// Peers may write into private pages of a window through the kernel, which finds a page first and
/// writes later.
TEST_F(ReplacedMemory, PagesOfAnotherWindowStayWhatTheyAre)
{
    const Pages memory(4);
    SharedRange kept = share(memory.data() + page + 5, 10, SharePolicy::automatic);
    EXPECT_EQ(share_in_place(memory).refusal(), Refusal::in_use);
    kept.release();
    const SharedRange range = share(memory.data(), 2 * page, SharePolicy::in_place);
    EXPECT_TRUE(range) << text(range.refusal());
    EXPECT_EQ(share_in_place(memory).refusal(), Refusal::in_use);
}

/// A range that is not all in them was taken as it was: its peers may be writing into these pages.
TEST_F(ReplacedMemory, PagesStayWhileAnotherWindowHasThemAsTheyAre)
{
    const Pages memory(4);
    fill(memory.data(), memory.bytes());
    SharedRange first = share(memory.data(), 2 * page, SharePolicy::in_place);
    ASSERT_TRUE(first);
    {
        const SharedRange larger = share_in_place(memory);
        EXPECT_FALSE(larger);
        first = {};
        EXPECT_TRUE(is_shared(memory.data()));
        const SharedRange again = share(memory.data(), 2 * page, SharePolicy::in_place);
        EXPECT_TRUE(again);
    }
    EXPECT_FALSE(is_shared(memory.data()));
    EXPECT_TRUE(holds(memory.data(), memory.bytes()));
}

TEST_F(ReplacedMemory, SparseMemoryStaysSparse)
{
    const Pages memory(20'000);
    fill(memory.data() + 100 * page, page);
    const std::byte read_only = *static_cast<volatile std::byte*>(memory.data() + 5000 * page);
    EXPECT_EQ(read_only, std::byte{0});
    const std::size_t before = kilobytes("VmRSS");
    SharedRange range = share_in_place(memory);
    ASSERT_TRUE(range) << text(range.refusal());
    EXPECT_TRUE(holds(memory.data() + 100 * page, page));
    range.release();
    EXPECT_TRUE(holds(memory.data() + 100 * page, page));
    EXPECT_LT(kilobytes("VmRSS"), before + 4096);
}

/// 256 MiB, and never more than 64 MiB of it twice, whichever way.
TEST_F(ReplacedMemory, IsNeverThereTwice)
{
    EXPECT_TRUE(went_well(start_process([] {
        const Pages memory(65'536);
        std::memset(memory.data(), 1, memory.bytes());
        const std::size_t before = kilobytes("VmRSS");
        SharedRange range = share_in_place(memory);
        const bool replaced = static_cast<bool>(range);
        range.release();
        const std::size_t most = kilobytes("VmHWM");
        return replaced && most < before + 96 * 1024 &&
               memory.data()[memory.bytes() - 1] == std::byte{1};
    })));
}

TEST_F(ReplacedMemory, MemoryThatIsGoneTooEarlyIsLeftAlone)
{
    const Pages memory(4);
    SharedRange range = share_in_place(memory);
    ASSERT_TRUE(range);
    ASSERT_NE(mmap(memory.data() + page, page, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              MAP_FAILED);
    fill(memory.data() + page, page, 3);
    ASSERT_EQ(munmap(memory.data() + 2 * page, page), 0);
    range.release();
    EXPECT_TRUE(holds(memory.data() + page, page, 3));
    EXPECT_FALSE(is_shared(memory.data()));
    EXPECT_FALSE(is_shared(memory.data() + 2 * page));
}

/// Another window comes to pages that the program has mapped in the place of some that it unmapped.
TEST_F(ReplacedMemory, WhatLiesInThePlaceOfAPartIsNotTakenForIt)
{
    const Pages memory(4);
    SharedRange range = share_in_place(memory);
    ASSERT_TRUE(range);
    ASSERT_NE(mmap(memory.data() + page, page, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              MAP_FAILED);
    EXPECT_TRUE(share(memory.data(), page, SharePolicy::in_place));
    EXPECT_TRUE(share(memory.data() + 2 * page, 2 * page, SharePolicy::automatic));
    EXPECT_FALSE(share(memory.data() + page + 8, 8, SharePolicy::automatic));
    EXPECT_FALSE(share(memory.data(), 2 * page, SharePolicy::in_place));
    EXPECT_FALSE(share_in_place(memory));
}

/// Likewise a child, which has a copy of its own there already.
TEST_F(ReplacedMemory, WhatLiesInThePlaceOfAPartIsTheChildsToo)
{
    const Pages memory(4);
    fill(memory.data(), memory.bytes());
    SharedRange range = share_in_place(memory);
    ASSERT_TRUE(range);
    ASSERT_NE(mmap(memory.data() + page, page, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              MAP_FAILED);
    fill(memory.data() + page, page, 3);
    EXPECT_TRUE(went_well(start_process([&] {
        const bool good = holds(memory.data(), page) && holds(memory.data() + page, page, 3) &&
                          memory.data()[2 * page] == pattern(2 * page, 0);
        fill(memory.data(), memory.bytes(), 9);
        return good && !is_shared(memory.data()) && !is_shared(memory.data() + 2 * page);
    })));
    EXPECT_TRUE(holds(memory.data(), page));
    EXPECT_TRUE(holds(memory.data() + page, page, 3));
}

TEST_F(ReplacedMemory, AProgramMayCloseOurFile)
{
    const Pages memory(2);
    fill(memory.data(), memory.bytes());
    SharedRange range = share_in_place(memory);
    ASSERT_TRUE(range);
    close(range.where().file.descriptor);
    const int other = open("/dev/null", O_RDWR | O_CLOEXEC);
    range.release();
    EXPECT_TRUE(holds(memory.data(), memory.bytes()));
    EXPECT_EQ(fcntl(other, F_GETFD), FD_CLOEXEC);
    close(other);
    EXPECT_TRUE(is_shared(memory.data()));
    EXPECT_TRUE(went_well(start_process([&] {
        const bool good = holds(memory.data(), memory.bytes());
        fill(memory.data(), memory.bytes(), 9);
        return good;
    })));
    EXPECT_TRUE(holds(memory.data(), memory.bytes()));
}

/// Without descriptors the kernel does not say what is mapped.
TEST_F(ReplacedMemory, WhatCouldNotBeGivenBackIsTriedAgain)
{
    const Pages memory(4);
    fill(memory.data(), memory.bytes());
    SharedRange range = share_in_place(memory);
    ASSERT_TRUE(range);
    {
        const FileLimit none(static_cast<rlim_t>(next_descriptor()));
        range.release();
    }
    EXPECT_TRUE(is_shared(memory.data()));
    const Pages other(1);
    share(other.data(), other.bytes(), SharePolicy::automatic).release();
    EXPECT_FALSE(is_shared(memory.data()));
    EXPECT_TRUE(holds(memory.data(), memory.bytes()));
}

/// Without a copy, and without a wait.
TEST_F(ReplacedMemory, AChildOfForkHasItsOwnPages)
{
    const Pages memory(65'536);
    fill(memory.data(), memory.bytes());
    const SharedRange range = share_in_place(memory);
    ASSERT_TRUE(range) << text(range.refusal());
    const auto begin = std::chrono::steady_clock::now();
    const pid_t child = start_process([&] {
        const bool good = holds(memory.data(), memory.bytes()) && !is_shared(memory.data());
        fill(memory.data(), memory.bytes(), 9);
        return good;
    });
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(120));
    EXPECT_TRUE(went_well(child));
    EXPECT_TRUE(holds(memory.data(), memory.bytes()));
    const View view(range.where());
    EXPECT_TRUE(holds(view.data, memory.bytes()));
}

// What tells against it.

TEST_F(ReplacedMemory, OnlyOrdinaryMemoryIsReplaced)
{
    const Pages memory(4);
    const auto refusal = [&](std::size_t at) {
        return share(memory.data() + at * page, page, SharePolicy::in_place).refusal();
    };
    syscall(SYS_mlock, memory.data(), page); // sanitizers do nothing in mlock
    EXPECT_EQ(refusal(0), Refusal::special);
    madvise(memory.data() + page, page, MADV_DONTFORK);
    EXPECT_EQ(refusal(1), Refusal::special);
    mprotect(memory.data() + 2 * page, page, PROT_READ);
    EXPECT_EQ(refusal(2), Refusal::not_writable);
    EXPECT_EQ(refusal(3), Refusal::none);
    EXPECT_EQ(refusal(4), Refusal::not_writable); // the guard
    const std::size_t in_stack = reinterpret_cast<std::uintptr_t>(&refusal) & ~(page - 1);
    EXPECT_EQ(share(reinterpret_cast<void*>(in_stack), page, SharePolicy::in_place).refusal(),
              Refusal::special);
}

TEST_F(ReplacedMemory, PagesThatAChildStillSharesAreNot)
{
    const Pages memory(4);
    fill(memory.data(), memory.bytes());
    const Channel to_child;
    const pid_t child = start_process([&] {
        int now = 0;
        return to_child.receive(now) && holds(memory.data(), memory.bytes());
    });
    EXPECT_EQ(share_in_place(memory).refusal(), Refusal::forked);
    EXPECT_TRUE(to_child.send(1));
    EXPECT_TRUE(went_well(child));
    EXPECT_TRUE(share_in_place(memory));
}

TEST_F(ReplacedMemory, LimitsTellAgainstIt)
{
    EXPECT_TRUE(went_well(start_process([] {
        const Pages memory(4);
        const rlimit files{1 << 20, RLIM_INFINITY};
        setrlimit(RLIMIT_FSIZE, &files);
        const Refusal by_files = share_in_place(memory).refusal();
        const rlimit addresses{std::size_t{1} << 46, RLIM_INFINITY};
        setrlimit(RLIMIT_AS, &addresses);
        return by_files == Refusal::system &&
               share_in_place(memory).refusal() == Refusal::memory_limit;
    })));
}

TEST_F(ReplacedMemory, AThreadOfTheProgramTellsAgainstIt)
{
    const Pages memory(4);
    std::atomic<bool> over{false};
    std::thread other([&] { over.wait(false); });
    EXPECT_EQ(share_in_place(memory).refusal(), Refusal::threads);
    over = true;
    over.notify_all();
    other.join();
    while (!host::program_is_alone()) {
    } // the kernel takes its time
    EXPECT_TRUE(share_in_place(memory));
}

TEST_F(ReplacedMemory, AThreadOfALibraryDoesNot)
{
    const Pages memory(4);
    std::atomic<bool> over{false};
    std::thread other;
    {
        const host::LibraryThreads of_the_host;
        other = std::thread([&] { over.wait(false); });
    }
    EXPECT_TRUE(host::program_is_alone());
    EXPECT_TRUE(share_in_place(memory));
    over = true;
    over.notify_all();
    other.join();
}

/// A thread may have come while the window was there: it loses no store.
TEST_F(ReplacedMemory, AThreadThatCameLaterLosesNoStore)
{
    const Pages memory(512);
    SharedRange range = share_in_place(memory);
    ASSERT_TRUE(range);
    std::atomic<bool> over{false};
    std::atomic<std::uint64_t> rounds{0};
    bool lost = false;
    std::thread other([&] {
        auto* words = reinterpret_cast<volatile std::uint64_t*>(memory.data());
        constexpr std::size_t words_of_page = page / sizeof *words;
        for (std::uint64_t round = 1; !over; ++round) {
            for (std::size_t i = 0; i < 512; ++i) {
                lost = lost || words[i * words_of_page] != round - 1;
                words[i * words_of_page] = round;
            }
            ++rounds;
        }
    });
    while (rounds < 3) {
    }
    range.release();
    const std::uint64_t then = rounds;
    while (rounds < then + 3) {
    }
    over = true;
    other.join();
    EXPECT_FALSE(lost);
    EXPECT_FALSE(is_shared(memory.data()));
}

} // namespace
} // namespace sidelight::unit
