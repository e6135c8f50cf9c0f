// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/shareable.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric/mapped/copied_memory.hpp"
#include "host/memory/address_space.hpp"
#include "host/memory/collapse.hpp"
#include "host/memory/replacement.hpp"
#include "host/memory/stopped_threads.hpp"
#include "host/memory/survey.hpp"
#include "host/signals.hpp"
#include "unit/processes.hpp"

namespace sidelight::unit {
namespace {

using host::memory::can_replace;
using host::memory::IfPrivate;
using host::memory::Others;
using host::memory::Refusal;
using host::memory::share;
using host::memory::SharedRange;

constexpr std::size_t page = 4096;

std::byte pattern(std::size_t at, unsigned seed = 0)
{
    return static_cast<std::byte>((at * 31 + at / page + seed) & 0xFF);
}

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
    explicit View(const FileRange& where)
        : mapping(Mapping::part(open_memory_file(where.file), where.offset, where.bytes)),
          data(mapping ? mapping.data() + where.offset % page : nullptr)
    {}
    Mapping mapping;
    std::byte* data;
};

class NameVisitor final : public host::memory::AreaVisitor {
public:
    bool visit(const host::memory::Area& area) noexcept override
    {
        found = area;
        return false;
    }
    host::memory::Area found;
};

host::memory::Area area_at(const void* address)
{
    NameVisitor visitor;
    visit_areas(host::memory::span_of(address, 1), host::memory::Detail::mappings, visitor);
    return visitor.found;
}

bool is_private_anonymous(const void* address)
{
    const host::memory::Area area = area_at(address);
    return !area.shared && area.inode == 0 && area.readable;
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

/// Gives up all rights of root; /proc/self stays readable.
bool become_nobody() { return setuid(65534) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0; }

/// Another thread that lives as long as this.
class SecondThread {
public:
    SecondThread()
        : thread_([this] {
              while (!stop_.load()) {
                  usleep(100);
              }
          })
    {}
    ~SecondThread()
    {
        stop_ = true;
        thread_.join();
    }

private:
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

class UserMemoryTest : public testing::Test {
protected:
    void SetUp() override
    {
#ifdef __SANITIZE_THREAD__
        GTEST_SKIP() << "the sanitizer has threads of its own, and lets none be stopped";
#endif
        if (host::memory::process_state().threads != 1) {
            GTEST_SKIP() << "the sanitizer has started a thread";
        }
    }
};

TEST_F(UserMemoryTest, StaysWhereAndWhatItIs)
{
    const Pages memory(5);
    fill(memory.data(), memory.bytes());
    SharedRange range = share(memory.data() + 100, 3 * page, SharePolicy::automatic);
    ASSERT_TRUE(range) << text(range.refusal());
    EXPECT_EQ(range.where().bytes, 3 * page);
    EXPECT_TRUE(holds(memory.data(), memory.bytes()));
    const View view(range.where());
    ASSERT_NE(view.data, nullptr);
    EXPECT_EQ(std::memcmp(view.data, memory.data() + 100, 3 * page), 0);
    view.data[7] = std::byte{77};
    EXPECT_EQ(memory.data()[107], std::byte{77});
    memory.data()[108] = std::byte{78};
    EXPECT_EQ(view.data[8], std::byte{78});
    EXPECT_TRUE(is_private_anonymous(memory.data() + 4 * page));
    range.release();
    EXPECT_EQ(memory.data()[107], std::byte{77});
    EXPECT_TRUE(is_private_anonymous(memory.data() + page));
    view.data[9] = std::byte{1}; // a peer that is late reaches nobody
    EXPECT_EQ(memory.data()[109], pattern(109));
}

TEST_F(UserMemoryTest, OtherProcessesReadAndWriteIt)
{
    const Pages memory(4);
    fill(memory.data(), memory.bytes());
    const SharedRange range = share(memory.data(), memory.bytes(), SharePolicy::automatic);
    ASSERT_TRUE(range);
    const pid_t peer = start_process([&] {
        const View view(range.where());
        if (view.data == nullptr || !holds(view.data, range.where().bytes)) {
            return false;
        }
        view.data[3 * page + 5] = std::byte{99};
        return true;
    });
    EXPECT_TRUE(went_well(peer));
    EXPECT_EQ(memory.data()[3 * page + 5], std::byte{99});
}

TEST_F(UserMemoryTest, RangesShareTheirPages)
{
    const Pages memory(6);
    fill(memory.data(), memory.bytes());
    SharedRange low = share(memory.data() + 10, 2 * page, SharePolicy::automatic);
    SharedRange high = share(memory.data() + 2 * page + 100, 2 * page, SharePolicy::automatic);
    SharedRange all = share(memory.data(), 6 * page, SharePolicy::automatic);
    SharedRange again = share(memory.data() + 10, 2 * page, SharePolicy::automatic);
    ASSERT_TRUE(low && high && all && again);
    EXPECT_EQ(low.where().file.inode, all.where().file.inode);
    EXPECT_EQ(all.where().offset + 10, low.where().offset);
    const View view(all.where());
    low.release();
    all.release();
    EXPECT_TRUE(is_private_anonymous(memory.data() + 5 * page + 200));
    memory.data()[50] = std::byte{1};
    EXPECT_EQ(View(again.where()).data[40], std::byte{1});
    again.release();
    high.release();
    memory.data()[50] = pattern(50);
    EXPECT_TRUE(holds(memory.data(), memory.bytes()));
    for (std::size_t at = 0; at < 6; ++at) {
        EXPECT_TRUE(is_private_anonymous(memory.data() + at * page)) << at;
    }
}

/// So many that a further range takes along what lies between it and its neighbours; `distance`
/// pages apart, so that these take nothing.
class ManyRanges {
public:
    ManyRanges()
    {
        for (std::size_t at = 0; at < count; ++at) {
            ranges_.push_back(
                share(memory_.data() + at * distance * page, page, SharePolicy::automatic));
        }
    }
    [[nodiscard]] bool good() const
    {
        return std::all_of(ranges_.begin(), ranges_.end(),
                           [](const SharedRange& range) { return bool{range}; });
    }

private:
    static constexpr std::size_t count = 64;
    static constexpr std::size_t distance = 20;
    Pages memory_{count * distance};
    std::vector<SharedRange> ranges_;
};

TEST_F(UserMemoryTest, FewRangesTakeNothingAlong)
{
    const Pages memory(3);
    const SharedRange low = share(memory.data(), page, SharePolicy::automatic);
    const SharedRange high = share(memory.data() + 2 * page, page, SharePolicy::automatic);
    ASSERT_TRUE(low && high);
    EXPECT_TRUE(is_private_anonymous(memory.data() + page));
}

TEST_F(UserMemoryTest, WhatLiesBetweenManyRangesIsTakenAlong)
{
    const ManyRanges many;
    ASSERT_TRUE(many.good());
    const Pages memory(40);
    fill(memory.data(), memory.bytes());
    SharedRange first = share(memory.data() + 6 * page, page, SharePolicy::automatic);
    SharedRange after = share(memory.data() + 9 * page, page, SharePolicy::automatic);
    SharedRange before = share(memory.data(), page, SharePolicy::automatic);
    const SharedRange far = share(memory.data() + 30 * page, page, SharePolicy::automatic);
    ASSERT_TRUE(first && after && before && far);
    const auto all = host::memory::span_of(memory.data(), 10 * page);
    EXPECT_EQ(area_at(memory.data()).span, all) << "one mapping";
    EXPECT_TRUE(is_private_anonymous(memory.data() + 20 * page)) << "more than 64 KiB";
    first.release();
    EXPECT_TRUE(is_private_anonymous(memory.data() + 6 * page));
    EXPECT_FALSE(is_private_anonymous(memory.data() + 8 * page)) << "as long as its neighbour";
    after.release();
    before.release();
    for (std::size_t at = 0; at < 10; ++at) {
        EXPECT_TRUE(is_private_anonymous(memory.data() + at * page));
    }
    EXPECT_TRUE(holds(memory.data(), memory.bytes()));
}

TEST_F(UserMemoryTest, WhatCannotBeSharedIsNotTakenAlong)
{
    const ManyRanges many;
    ASSERT_TRUE(many.good());
    const Pages memory(5);
    fill(memory.data(), memory.bytes());
    ASSERT_EQ(mprotect(memory.data() + 2 * page, page, PROT_READ), 0);
    SharedRange low = share(memory.data(), page, SharePolicy::automatic);
    SharedRange high = share(memory.data() + 4 * page, page, SharePolicy::automatic);
    ASSERT_TRUE(low && high);
    for (std::size_t at = 1; at < 4; ++at) {
        EXPECT_TRUE(is_private_anonymous(memory.data() + at * page));
    }
    EXPECT_TRUE(holds(memory.data(), memory.bytes()));
}

TEST_F(UserMemoryTest, SeveralMappingsAreOneRange)
{
    const Pages memory(6);
    fill(memory.data(), memory.bytes());
    SharedRange middle = share(memory.data() + 2 * page, page, SharePolicy::automatic);
    ASSERT_TRUE(middle);
    const SharedRange all = share(memory.data(), memory.bytes(), SharePolicy::automatic);
    ASSERT_TRUE(all) << text(all.refusal());
    middle.release();
    const View view(all.where());
    EXPECT_TRUE(holds(view.data, memory.bytes()));
}

TEST_F(UserMemoryTest, SparseMemoryStaysSparse)
{
    constexpr std::size_t count = std::size_t{100} << 18; // 100 GiB
    const Pages memory(count);
    ASSERT_NE(area_at(memory.data()).span.bytes(), 0U);
    memory.data()[5 * page] = std::byte{5};
    memory.data()[(count - 1) * page] = std::byte{6};
    const std::byte read = *static_cast<volatile std::byte*>(memory.data() + 9 * page);
    EXPECT_EQ(read, std::byte{0});
    SharedRange range = share(memory.data(), memory.bytes(), SharePolicy::automatic);
    ASSERT_TRUE(range) << text(range.refusal());
    struct stat status {};
    ASSERT_EQ(fstat(range.where().file.descriptor, &status), 0);
    EXPECT_EQ(status.st_blocks * 512, static_cast<blkcnt_t>(2 * page));
    EXPECT_EQ(memory.data()[(count - 1) * page], std::byte{6});
    EXPECT_EQ(memory.data()[9 * page], std::byte{0});
    range.release();
    EXPECT_EQ(memory.data()[5 * page], std::byte{5});
    ASSERT_TRUE(is_private_anonymous(memory.data()));
}

TEST_F(UserMemoryTest, WhatWasThereBeforeDoesNotComeBack)
{
    std::byte* address = nullptr;
    {
        const Pages memory(3);
        address = memory.data();
        fill(memory.data(), memory.bytes());
        const SharedRange range = share(memory.data(), memory.bytes(), SharePolicy::automatic);
        ASSERT_TRUE(range);
    }
    void* second = mmap(address, 3 * page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    ASSERT_EQ(second, address);
    address[page] = std::byte{42};
    {
        const SharedRange range = share(address, 3 * page, SharePolicy::automatic);
        ASSERT_TRUE(range);
        EXPECT_EQ(address[0], std::byte{0});
        EXPECT_EQ(address[page], std::byte{42});
        EXPECT_EQ(address[2 * page + 3], std::byte{0});
    }
    EXPECT_EQ(address[0], std::byte{0});
    munmap(address, 3 * page);
}

TEST_F(UserMemoryTest, MemoryThatIsGoneTooEarlyIsLeftAlone)
{
    auto* memory = static_cast<std::byte*>(
        mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    memory[0] = std::byte{1};
    SharedRange range = share(memory, 4 * page, SharePolicy::automatic);
    ASSERT_TRUE(range);
    // Unmapped while it is in a window, and something else is mapped there.
    ASSERT_EQ(mmap(memory, 4 * page, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              memory);
    memory[1] = std::byte{2};
    const SharedRange second = share(memory, page, SharePolicy::automatic);
    EXPECT_EQ(second.refusal(), Refusal::in_use);
    range.release();
    EXPECT_EQ(memory[1], std::byte{2});
    EXPECT_EQ(memory[0], std::byte{0});
    munmap(memory, 4 * page);
}

TEST_F(UserMemoryTest, MemoryThatWasMovedBecomesPrivateWhereItIs)
{
    void* memory =
        mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fill(static_cast<std::byte*>(memory), 4 * page);
    SharedRange range = share(memory, 4 * page, SharePolicy::automatic);
    ASSERT_TRUE(range);
    auto* moved = static_cast<std::byte*>(mremap(memory, 4 * page, 1024 * page, MREMAP_MAYMOVE));
    ASSERT_NE(static_cast<void*>(moved), MAP_FAILED);
    range.release();
    EXPECT_TRUE(is_private_anonymous(moved));
    EXPECT_TRUE(holds(moved, 4 * page));
    munmap(moved, 1024 * page);
}

TEST_F(UserMemoryTest, RefusesWhatIsNotProvablySafe)
{
    const Pages memory(4);
    memory.data()[0] = std::byte{1};
    int local = 0;
    EXPECT_EQ(share(&local, sizeof local, SharePolicy::automatic).refusal(), Refusal::stack);
    EXPECT_EQ(share(&local, sizeof local, SharePolicy::always).refusal(), Refusal::stack);
    static int in_file = 7;
    EXPECT_EQ(share(&in_file, sizeof in_file, SharePolicy::automatic).refusal(), Refusal::file);
    EXPECT_EQ(share("constant", 4, SharePolicy::automatic).refusal(), Refusal::not_writable);
    EXPECT_EQ(share(memory.data(), 5 * page, SharePolicy::automatic).refusal(),
              Refusal::not_writable);
    EXPECT_EQ(share(nullptr, 1, SharePolicy::always).refusal(), Refusal::no_memory_there);
    EXPECT_EQ(share(memory.data(), 0, SharePolicy::always).refusal(), Refusal::no_memory_there);
    EXPECT_EQ(share(memory.data(), SIZE_MAX, SharePolicy::always).refusal(),
              Refusal::no_memory_there);
    EXPECT_EQ(share(memory.data(), page, SharePolicy::never).refusal(), Refusal::policy);
    ASSERT_EQ(syscall(SYS_mlock, memory.data() + page, page),
              0); // sanitizers make mlock() do nothing
    EXPECT_EQ(share(memory.data() + page, page, SharePolicy::automatic).refusal(), Refusal::locked);
    syscall(SYS_munlock, memory.data() + page, page);
    ASSERT_EQ(madvise(memory.data() + page, page, MADV_DONTFORK), 0);
    EXPECT_EQ(share(memory.data(), 3 * page, SharePolicy::automatic).refusal(), Refusal::special);
    ASSERT_EQ(mprotect(memory.data() + 3 * page, page, PROT_READ), 0);
    EXPECT_EQ(share(memory.data() + 2 * page, 2 * page, SharePolicy::automatic).refusal(),
              Refusal::not_writable);
    ASSERT_EQ(mprotect(memory.data() + 3 * page, page, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
    EXPECT_EQ(share(memory.data() + 3 * page, page, SharePolicy::automatic).refusal(),
              Refusal::executable);
    EXPECT_TRUE(is_private_anonymous(memory.data()));
    EXPECT_EQ(memory.data()[0], std::byte{1});
}

constexpr std::size_t huge = std::size_t{2} << 20;

/// Room for three huge pages, and for a part of one at either end. Empty: this system uses none.
std::unique_ptr<Pages> pages_for_huge_ones()
{
    auto memory = std::make_unique<Pages>(4 * huge / page);
    NameVisitor visitor;
    const bool advised = madvise(memory->data(), memory->bytes(), MADV_HUGEPAGE) == 0;
    visit_areas(host::memory::span_of(memory->data(), 1), host::memory::Detail::flags, visitor);
    return advised && visitor.found.huge_eligible ? std::move(memory) : nullptr;
}

std::uint64_t huge_bytes_at(const void* address)
{
    NameVisitor visitor;
    visit_areas(host::memory::span_of(address, 1), host::memory::Detail::flags, visitor);
    return visitor.found.huge_bytes;
}

TEST_F(UserMemoryTest, AutoKeepsHugePagesToCome)
{
    const auto memory = pages_for_huge_ones();
    if (!memory) {
        GTEST_SKIP() << "this system uses no huge pages";
    }
    memory->data()[huge] = std::byte{1};
    const SharedRange kept = share(memory->data(), memory->bytes(), SharePolicy::automatic);
    const SharedRange forced = share(memory->data(), memory->bytes(), SharePolicy::always);
    EXPECT_TRUE(kept.refusal() == Refusal::huge_pages ||
                kept.refusal() == Refusal::huge_pages_to_come || kept);
    EXPECT_TRUE(forced);
    EXPECT_EQ(memory->data()[huge], std::byte{1});
    EXPECT_EQ(memory->data()[2 * huge], std::byte{0});
}

/// Also where files of memory have none of themselves.
TEST_F(UserMemoryTest, HugePagesStayHuge)
{
    const auto memory = pages_for_huge_ones();
    if (!memory) {
        GTEST_SKIP() << "this system uses no huge pages";
    }
    fill(memory->data(), memory->bytes());
    const std::uint64_t before = huge_bytes_at(memory->data());
    if (before == 0 || !host::memory::can_collapse()) {
        GTEST_SKIP() << "no huge pages are to be had now";
    }
    for (unsigned round = 0; round < 3; ++round) {
        SharedRange shared = share(memory->data(), memory->bytes(), SharePolicy::automatic);
        if (shared.refusal() == Refusal::system) {
            GTEST_SKIP() << "no huge pages are to be had now";
        }
        ASSERT_TRUE(shared) << text(shared.refusal());
        EXPECT_TRUE(area_at(memory->data()).shared);
        EXPECT_TRUE(holds(memory->data(), memory->bytes(), round));
        const View view(shared.where());
        ASSERT_NE(view.data, nullptr);
        fill(view.data, memory->bytes(), round + 1);
        EXPECT_TRUE(holds(memory->data(), memory->bytes(), round + 1));
        EXPECT_GE(huge_bytes_at(memory->data()), before);
        shared = SharedRange(Refusal::none);
        EXPECT_TRUE(is_private_anonymous(memory->data()));
        EXPECT_TRUE(holds(memory->data(), memory->bytes(), round + 1));
    }
}

/// Others write while the pages are copied into huge ones.
TEST_F(UserMemoryTest, HugePagesWhileAThreadWrites)
{
    const auto memory = pages_for_huge_ones();
    if (!memory || !host::memory::can_collapse() || !can_replace(Others::stop)) {
        GTEST_SKIP() << "no huge pages, or threads cannot be stopped";
    }
    fill(memory->data(), memory->bytes());
    auto* counter = reinterpret_cast<volatile std::uint64_t*>(memory->data() + 2 * huge);
    *counter = 0;
    std::atomic<bool> stop{false};
    std::atomic<bool> lost{false};
    std::thread writer([&] {
        for (std::uint64_t value = 1; !stop; ++value) {
            *counter = value;
            lost = lost || *counter != value;
        }
    });
    for (int round = 0; round < 5; ++round) {
        const SharedRange shared = share(memory->data(), memory->bytes(), SharePolicy::automatic);
        EXPECT_TRUE(shared || shared.refusal() == Refusal::huge_pages_to_come ||
                    shared.refusal() == Refusal::system)
            << text(shared.refusal());
        usleep(2000);
    }
    stop = true;
    writer.join();
    EXPECT_FALSE(lost);
}

TEST_F(UserMemoryTest, AFailureLeavesItAsItWas)
{
    const Pages memory(64);
    fill(memory.data(), memory.bytes());
    const pid_t child = start_process([&] {
        rlimit before{};
        getrlimit(RLIMIT_NOFILE, &before);
        bool refused = true;
        for (rlim_t most = 3; most < 8; ++most) {
            const rlimit few{most, before.rlim_max};
            refused = setrlimit(RLIMIT_NOFILE, &few) == 0 && refused;
            const SharedRange range = share(memory.data(), memory.bytes(), SharePolicy::automatic);
            refused = refused && (!range || most > 4);
        }
        setrlimit(RLIMIT_NOFILE, &before);
        return refused && holds(memory.data(), memory.bytes()) &&
               is_private_anonymous(memory.data());
    });
    EXPECT_TRUE(went_well(child));
    const pid_t other = start_process([&] {
        const SharedRange first = share(memory.data(), page, SharePolicy::automatic);
        const rlimit tight{std::size_t{1} << 20, std::size_t{1} << 20};
        if (!first || setrlimit(RLIMIT_AS, &tight) != 0) {
            return false;
        }
        const SharedRange range = share(memory.data(), memory.bytes(), SharePolicy::automatic);
        return range.refusal() == Refusal::system && holds(memory.data(), memory.bytes()) &&
               is_private_anonymous(memory.data() + page);
    });
    EXPECT_TRUE(went_well(other));
    const pid_t limited = start_process([&] {
        const rlimit small{page, page};
        return setrlimit(RLIMIT_FSIZE, &small) == 0 &&
               share(memory.data(), page, SharePolicy::automatic).refusal() == Refusal::file_limit;
    });
    EXPECT_TRUE(went_well(limited));
    const pid_t limited_with_threads = start_process([&] {
        const SecondThread thread;
        const rlimit small{page, page};
        return setrlimit(RLIMIT_FSIZE, &small) == 0 &&
               share(memory.data(), page, SharePolicy::automatic).refusal() == Refusal::file_limit;
    });
    EXPECT_TRUE(went_well(limited_with_threads));
}

TEST_F(UserMemoryTest, AProgramMayCloseOurFile)
{
    const Pages memory(4);
    fill(memory.data(), memory.bytes());
    const pid_t child = start_process([&] {
        SharedRange range = share(memory.data(), memory.bytes(), SharePolicy::automatic);
        if (!range || close(range.where().file.descriptor) != 0) {
            return false;
        }
        const bool gone = View(range.where()).data == nullptr;
        range.release();
        return gone && holds(memory.data(), memory.bytes());
    });
    EXPECT_TRUE(went_well(child));
}

TEST_F(UserMemoryTest, SharedMemoryIsUsedAsItIs)
{
    const std::string name = "/sidelight-test-" + std::to_string(getpid());
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

// What a program does with its memory afterwards.

TEST_F(UserMemoryTest, ForkGivesTheChildItsOwnPages)
{
    const Pages memory(4);
    fill(memory.data(), memory.bytes());
    const SharedRange range = share(memory.data(), memory.bytes(), SharePolicy::automatic);
    ASSERT_TRUE(range);
    const Channel to_child;
    const pid_t child = start_process([&] {
        int now = 0;
        const bool good = holds(memory.data(), memory.bytes()) && to_child.receive(now) &&
                          holds(memory.data(), memory.bytes()); // not what the parent has stored
        fill(memory.data(), memory.bytes(), 9);
        return good && is_private_anonymous(memory.data());
    });
    fill(memory.data(), memory.bytes(), 3);
    EXPECT_TRUE(to_child.send(1));
    EXPECT_TRUE(went_well(child));
    EXPECT_TRUE(holds(memory.data(), memory.bytes(), 3));
    const View view(range.where());
    EXPECT_TRUE(holds(view.data, memory.bytes(), 3));
}

/// Blocks of all sizes that are made, moved, checked and freed again.
class Storm {
public:
    Storm() : blocks_(200) {}
    ~Storm()
    {
        for (const Block& block : blocks_) {
            std::free(block.data);
        }
    }
    Storm(const Storm&) = delete;
    Storm& operator=(const Storm&) = delete;

    bool run(int rounds)
    {
        bool good = true;
        for (int round = 0; round < rounds; ++round) {
            Block& block = blocks_[next() % blocks_.size()];
            good = good && holds(block.data, block.size, block.seed);
            const std::size_t size = 1 + next() % (next() % 16 == 0 ? 300'000 : 3'000);
            if (next() % 3 == 0) {
                std::free(block.data);
                block.data = static_cast<std::byte*>(std::calloc(size, 1));
                good = good && std::all_of(block.data, block.data + size,
                                           [](std::byte byte) { return byte == std::byte{0}; });
            } else {
                block.data = static_cast<std::byte*>(std::realloc(block.data, size));
                good = good && holds(block.data, std::min(size, block.size), block.seed);
            }
            block.size = size;
            block.seed = static_cast<unsigned>(next());
            fill(block.data, block.size, block.seed);
        }
        return good;
    }

private:
    struct Block {
        std::byte* data = nullptr;
        std::size_t size = 0;
        unsigned seed = 0;
    };
    std::size_t next()
    {
        return (state_ = state_ * 6364136223846793005U + 1442695040888963407U) >> 33;
    }

    std::vector<Block> blocks_;
    std::size_t state_ = 1;
};

TEST_F(UserMemoryTest, TheHeapGoesOn)
{
    Storm storm;
    ASSERT_TRUE(storm.run(2'000));
    for (int round = 0; round < 30; ++round) {
        const std::size_t size =
            round % 3 == 0 ? 200'000 : 64 + static_cast<std::size_t>(round) * 999;
        auto* window = static_cast<std::byte*>(std::malloc(size));
        fill(window, size);
        SharedRange range = share(window, size, SharePolicy::automatic);
#ifndef __SANITIZE_ADDRESS__
        ASSERT_TRUE(range) << text(range.refusal());
#endif
        ASSERT_TRUE(storm.run(500));
        if (range) {
            const View view(range.where());
            ASSERT_TRUE(holds(view.data, size));
        }
        if (round % 5 == 4) {
            EXPECT_TRUE(went_well(start_process([&] {
                Storm inside;
                return inside.run(300) && holds(window, size);
            })));
        }
        range.release();
        ASSERT_TRUE(holds(window, size));
        std::free(window);
        ASSERT_TRUE(storm.run(500));
    }
}

TEST_F(UserMemoryTest, TheHeapMayShrinkAndGrow)
{
    for (int round = 0; round < 10; ++round) {
        std::vector<std::byte*> blocks;
        for (int at = 0; at < 300; ++at) {
            blocks.push_back(static_cast<std::byte*>(std::malloc(10'000)));
            fill(blocks.back(), 10'000);
        }
        // The last block lies at the top of the heap.
        SharedRange range = share(blocks.back(), 10'000, SharePolicy::automatic);
        std::byte* more = static_cast<std::byte*>(std::calloc(1, 60'000));
        EXPECT_TRUE(
            std::all_of(more, more + 60'000, [](std::byte byte) { return byte == std::byte{0}; }));
        EXPECT_TRUE(holds(blocks.back(), 10'000));
        if (round % 2 == 0) {
            range.release();
        }
        std::free(more);
        for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
            std::free(*block);
        }
        range.release(); // too late, in every second round: the memory is gone
    }
}

// Other threads.

bool can_share_with_threads() { return can_replace(Others::stop); }

TEST_F(UserMemoryTest, ASecondThreadIsStoppedOrIsAReasonToRefuse)
{
    const Pages memory(64);
    fill(memory.data(), memory.bytes());
    const SecondThread thread;
    SharedRange range = share(memory.data(), memory.bytes(), SharePolicy::automatic);
    if (can_share_with_threads()) {
        EXPECT_TRUE(range) << text(range.refusal());
    } else {
        EXPECT_EQ(range.refusal(), Refusal::threads);
    }
    EXPECT_TRUE(holds(memory.data(), memory.bytes()));
}

TEST_F(UserMemoryTest, ASecondThreadWithoutRightsIsStoppedOrIsAReasonToRefuse)
{
    const pid_t child = start_process([] {
        const Pages memory(8);
        fill(memory.data(), memory.bytes());
        if (!become_nobody()) {
            return false;
        }
        const SecondThread thread;
        const SharedRange range = share(memory.data(), page, SharePolicy::automatic);
        return holds(memory.data(), memory.bytes()) &&
               range.refusal() == (can_share_with_threads() ? Refusal::none : Refusal::threads) &&
               share(memory.data() + 2 * page, page, SharePolicy::always);
    });
    if (getuid() != 0) {
        waitpid(child, nullptr, 0);
        GTEST_SKIP() << "only root can give its rights up";
    }
    EXPECT_TRUE(went_well(child));
}

TEST_F(UserMemoryTest, PagesThatAreToBeKeptStayWhatTheyAre)
{
    const Pages memory(8);
    fill(memory.data(), memory.bytes());
    SharedRange shared = share(memory.data(), page, SharePolicy::automatic);
    SharedRange kept = share(memory.data(), 2 * page, SharePolicy::never, IfPrivate::keep);
    ASSERT_TRUE(shared);
    EXPECT_EQ(kept.refusal(), Refusal::policy);
    EXPECT_EQ(share(memory.data(), 3 * page, SharePolicy::always).refusal(), Refusal::in_use);
    EXPECT_TRUE(share(memory.data() + 2 * page, page, SharePolicy::automatic));
    shared = SharedRange();
    EXPECT_FALSE(is_private_anonymous(memory.data()));
    EXPECT_TRUE(is_private_anonymous(memory.data() + page));
    kept = SharedRange();
    EXPECT_TRUE(is_private_anonymous(memory.data()));
    EXPECT_TRUE(share(memory.data(), 3 * page, SharePolicy::automatic));
    EXPECT_TRUE(holds(memory.data(), memory.bytes()));
}

/// A peer writes each word once, while this process makes the pages shareable and private again.
TEST_F(UserMemoryTest, PeersLoseNoStoreByTheKernel)
{
    const Pages memory(256);
    auto* words = reinterpret_cast<std::uint64_t*>(memory.data());
    const std::size_t count = memory.bytes() / sizeof(std::uint64_t);
    fabric::allow_copies();
    const pid_t owner = getpid();
    const SharedRange kept =
        share(memory.data(), memory.bytes(), SharePolicy::never, IfPrivate::keep);
    const pid_t writer = start_process([&] {
        bool good = true;
        for (std::uint64_t at = 0; good && at < count; ++at) {
            std::uint64_t value = at + 1;
            const iovec here{&value, sizeof value};
            const iovec there{words + at, sizeof value};
            good = process_vm_writev(owner, &here, 1, &there, 1, 0) == sizeof value;
        }
        return good;
    });
    std::size_t rounds = 0;
    siginfo_t ended{};
    while (waitid(P_PID, static_cast<id_t>(writer), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == 0) {
        const SharedRange shared = share(memory.data(), memory.bytes(), SharePolicy::always);
        EXPECT_EQ(shared.refusal(), Refusal::in_use);
        ++rounds;
    }
    if (!went_well(writer)) {
        GTEST_SKIP() << "the kernel does not let processes copy here";
    }
    std::size_t lost = 0;
    for (std::size_t at = 0; at < count; ++at) {
        lost += words[at] != at + 1;
    }
    EXPECT_EQ(lost, 0U) << "of " << count << " in " << rounds << " rounds";
}

/// A thread counts in every word while its pages become shareable and private again. Answers
/// whether they all did, and no count was lost.
bool loses_no_store()
{
    const Pages memory(256);
    const std::size_t words = memory.bytes() / sizeof(std::uint64_t);
    auto* data = reinterpret_cast<std::uint64_t*>(memory.data());
    std::atomic<bool> stop{false};
    std::atomic<bool> good{true};
    std::uint64_t rounds = 0;
    std::thread writer([&] {
        while (!stop) {
            ++rounds;
            for (std::size_t at = rounds % 7; at < words; at += 7) {
                std::atomic_ref<std::uint64_t> word(data[at]);
                const std::uint64_t before = word.load();
                word.store(before + 1);
                good = good && word.load() == before + 1;
            }
        }
    });
    for (int round = 0; round < 200; ++round) {
        SharedRange range = share(memory.data(), memory.bytes(), SharePolicy::automatic);
        good = good && range;
        usleep(200);
        range.release();
        good = good && is_private_anonymous(memory.data());
    }
    stop = true;
    writer.join();
    std::uint64_t sum = 0;
    std::uint64_t expected = 0;
    for (std::size_t at = 0; at < words; ++at) {
        sum += data[at];
    }
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        expected += (words - round % 7 + 6) / 7;
    }
    return good && sum == expected;
}

TEST_F(UserMemoryTest, OtherThreadsLoseNoStore)
{
    if (!can_share_with_threads()) {
        GTEST_SKIP() << "other threads cannot be stopped here";
    }
    EXPECT_TRUE(loses_no_store());
}

/// To stop threads takes no rights.
TEST_F(UserMemoryTest, OtherThreadsLoseNoStoreWithoutRights)
{
    if (getuid() != 0 || !can_replace(Others::stop)) {
        GTEST_SKIP() << "only root can give its rights up, or threads cannot be stopped here";
    }
    EXPECT_TRUE(went_well(start_process([] { return become_nobody() && loses_no_store(); })));
}

/// Who sleeps in the kernel until another thread wakes it at a word, without FUTEX_PRIVATE_FLAG: as
/// std::atomic::wait does in GNU's library, and locks that several processes may use. The kernel
/// tells such words apart by what is behind their page.
class Sleeper {
public:
    explicit Sleeper(std::byte* word)
        : word_(reinterpret_cast<std::atomic<std::uint32_t>*>(word)), thread_([this] {
              id_ = static_cast<pid_t>(syscall(SYS_gettid));
              *word_ = asleep;
              while (*word_ == asleep) {
                  syscall(SYS_futex, word_, FUTEX_WAIT, asleep, nullptr, nullptr, 0);
              }
          })
    {
        while (!sleeps()) {
            usleep(1000);
        }
    }
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;
    /// Wakes it, and waits until it has ended.
    ~Sleeper()
    {
        *word_ = asleep + 1;
        syscall(SYS_futex, word_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
        thread_.join();
    }

private:
    static constexpr std::uint32_t asleep = 7;

    [[nodiscard]] bool sleeps() const
    {
        const std::string path = "/proc/self/task/" + std::to_string(id_) + "/syscall";
        std::ifstream file(path);
        long call = -1;
        return file >> call && call == SYS_futex;
    }

    std::atomic<std::uint32_t>* word_;
    std::atomic<pid_t> id_{0};
    std::thread thread_;
};

/// In a process of its own, which is killed where the sleeper is not woken.
TEST_F(UserMemoryTest, WhoSleepsAtAWordWhilePagesBecomeShareableIsWoken)
{
    if (!can_share_with_threads()) {
        GTEST_SKIP() << "other threads cannot be stopped here";
    }
    EXPECT_TRUE(went_well(start_process([] {
        const Pages memory(2);
        SharedRange range;
        {
            const Sleeper sleeper(memory.data());
            range = share(memory.data(), memory.bytes(), SharePolicy::automatic);
        }
        return static_cast<bool>(range);
    })));
}

TEST_F(UserMemoryTest, WhoSleepsAtAWordWhilePagesBecomePrivateAgainIsWoken)
{
    EXPECT_TRUE(went_well(start_process([] {
        const Pages memory(2);
        SharedRange range = share(memory.data(), memory.bytes(), SharePolicy::automatic);
        const bool shared{range};
        const Sleeper sleeper(memory.data());
        range.release();
        return shared && is_private_anonymous(memory.data()) == can_share_with_threads();
    })));
}

/// Pins a page for a device, as far as the kernel's account goes. Not set: not allowed here.
File pin(const Pages& memory)
{
    io_uring_params params{};
    File ring(static_cast<int>(syscall(SYS_io_uring_setup, 1, &params)));
    const iovec buffer{memory.data(), page};
    const bool pinned = ring && syscall(SYS_io_uring_register, ring.descriptor(),
                                        IORING_REGISTER_BUFFERS, &buffer, 1) == 0;
    return pinned && host::memory::process_state().pinned != 0 ? std::move(ring) : File();
}

TEST_F(UserMemoryTest, StaysWhatItIsWhereADeviceMayKnowIt)
{
    const pid_t child = start_process([] {
        const Pages memory(4);
        const Pages other(1);
        fill(memory.data(), memory.bytes());
        SharedRange range = share(memory.data(), memory.bytes(), SharePolicy::automatic);
        const File pinned = pin(other);
        if (!pinned) {
            return true; // nothing to see
        }
        const bool refused =
            share(other.data(), page, SharePolicy::automatic).refusal() == Refusal::pinned;
        range.release();
        const SharedRange again = share(memory.data(), memory.bytes(), SharePolicy::automatic);
        return refused && again && area_at(memory.data()).shared &&
               holds(memory.data(), memory.bytes());
    });
    EXPECT_TRUE(went_well(child));
}

/// What was never shared has nothing to stay for.
TEST_F(UserMemoryTest, KeptPagesAreFreeAgainAlsoWhereADeviceMayKnowThem)
{
    const pid_t child = start_process([] {
        const Pages memory(4);
        const Pages other(2);
        const SharedRange elsewhere = share(other.data() + page, page, SharePolicy::automatic);
        SharedRange kept =
            share(memory.data(), memory.bytes(), SharePolicy::never, IfPrivate::keep);
        {
            const File pinned = pin(other);
            kept.release();
        }
        while (host::memory::process_state().pinned != 0) { // given up by the kernel later on
            usleep(1000);
        }
        return elsewhere && share(memory.data(), memory.bytes(), SharePolicy::automatic);
    });
    EXPECT_TRUE(went_well(child));
}

/// From now on this process cannot stop threads; `deny` is what comes of it.
bool forbid_stopping(std::uint32_t deny = SECCOMP_RET_ERRNO | EPERM)
{
    std::array<sock_filter, 4> code{{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, deny),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    }};
    const sock_fprog filter{.len = static_cast<unsigned short>(code.size()), .filter = code.data()};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// They become private without a copy, and still show the pages of the file. Who sleeps at a word
/// of them is woken, and a later range does not empty them.
TEST_F(UserMemoryTest, PagesBecomePrivateWhereThreadsCannotBeStopped)
{
    EXPECT_TRUE(went_well(start_process([] {
        const Pages memory(8);
        fill(memory.data(), memory.bytes());
        SharedRange first = share(memory.data(), memory.bytes(), SharePolicy::automatic);
        if (!first || !forbid_stopping()) {
            return false;
        }
        {
            const Sleeper one(memory.data());
            const Sleeper other(memory.data() + 5 * page + 8);
            const Sleeper third(memory.data() + 5 * page + 8);
            first.release();
        }
        const SecondThread thread;
        SharedRange later =
            share(memory.data(), memory.bytes(), SharePolicy::automatic, IfPrivate::keep);
        const Refusal refusal = later.refusal();
        later.release();
        return refusal != Refusal::none && !area_at(memory.data()).shared &&
               holds(memory.data() + page, 4 * page, 1);
    })));
}

/// Their place in the file is free again when they are gone.
TEST_F(UserMemoryTest, PagesThatWereLeftBehindAreNotRefusedForEver)
{
    EXPECT_TRUE(went_well(start_process([] {
        const Pages memory(8);
        fill(memory.data(), memory.bytes());
        SharedRange first = share(memory.data(), memory.bytes(), SharePolicy::automatic);
        const SharedRange other = share(memory.data(), page, SharePolicy::automatic);
        bool good = first && forbid_stopping();
        {
            const SecondThread thread;
            first.release();
        }
        good = good && !share(memory.data() + 4 * page, page, SharePolicy::automatic);
        good = good && mmap(memory.data() + page, 7 * page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
        while (host::memory::process_state().threads != 1) {
            usleep(1000);
        }
        return good && share(memory.data() + 4 * page, page, SharePolicy::automatic) &&
               memory.data()[4 * page] == std::byte{0};
    })));
}

/// Who tries to stop threads is killed here.
TEST_F(UserMemoryTest, NothingIsTriedWithThreadsWhereMemoryIsToStayPrivate)
{
    EXPECT_TRUE(went_well(start_process([] {
        const Pages memory(1);
        const SecondThread thread;
        return forbid_stopping(SECCOMP_RET_KILL_PROCESS) &&
               share(memory.data(), page, SharePolicy::never, IfPrivate::keep).refusal() ==
                   Refusal::policy;
    })));
}

TEST_F(UserMemoryTest, WhatIsForbiddenIsKnownWithOneThread)
{
    EXPECT_TRUE(went_well(start_process([] {
        const host::SignalsBlocked blocked;
        return forbid_stopping() && !host::memory::StoppedThreads::stop() && errno == EPERM;
    })));
}

TEST_F(UserMemoryTest, ThreadsThatCameLaterLeaveItConsistent)
{
    EXPECT_TRUE(went_well(start_process([] {
        const Pages memory(8);
        fill(memory.data(), memory.bytes());
        SharedRange range = share(memory.data(), memory.bytes(), SharePolicy::automatic);
        const SecondThread thread;
        const bool shared{range};
        range.release();
        memory.data()[3] = std::byte{1};
        const bool as_it_should = is_private_anonymous(memory.data()) == can_share_with_threads();
        return shared && as_it_should && memory.data()[4] == pattern(4) &&
               memory.data()[3] == std::byte{1} &&
               share(memory.data(), page, SharePolicy::automatic);
    })));
}

/// Without a free descriptor nobody can say where they are.
TEST_F(UserMemoryTest, PagesThatCannotBeFoundKeepTheirContents)
{
    EXPECT_TRUE(went_well(start_process([] {
        const Pages memory(8);
        fill(memory.data(), memory.bytes());
        SharedRange range = share(memory.data(), memory.bytes(), SharePolicy::automatic);
        const bool shared{range};
        const rlimit none{0, 0};
        const bool limited = setrlimit(RLIMIT_NOFILE, &none) == 0;
        range.release();
        return shared && limited && holds(memory.data(), memory.bytes());
    })));
}

/// As a program does that becomes a daemon, and then opens files of its own.
TEST_F(UserMemoryTest, AChildGetsCopiesWhereTheFileIsAnotherNow)
{
    EXPECT_TRUE(went_well(start_process([] {
        const Pages memory(8);
        fill(memory.data(), memory.bytes());
        const SharedRange range = share(memory.data(), memory.bytes(), SharePolicy::automatic);
        const File null(open("/dev/null", O_RDWR));
        bool opened = true;
        for (int descriptor = 3; descriptor < 100; ++descriptor) {
            if (fcntl(descriptor, F_GETFD) >= 0) {
                opened = dup2(null.descriptor(), descriptor) == descriptor && opened;
            }
        }
        const int mine = range.where().file.descriptor;
        const pid_t child = start_process([&] {
            const bool same = holds(memory.data(), memory.bytes());
            std::memset(memory.data(), 0, memory.bytes());
            return same && is_private_anonymous(memory.data()) && fcntl(mine, F_GETFD) >= 0;
        });
        return range && opened && went_well(child) && holds(memory.data(), memory.bytes());
    })));
}

/// As realloc does with what lies beside a window.
TEST_F(UserMemoryTest, AChildGetsCopiesOfPagesThatWereMoved)
{
    EXPECT_TRUE(went_well(start_process([] {
        const Pages memory(8);
        const Pages elsewhere(3);
        fill(memory.data(), memory.bytes());
        const SharedRange range = share(memory.data(), memory.bytes(), SharePolicy::automatic);
        void* moved = mremap(memory.data() + 2 * page, 2 * page, 3 * page,
                             MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere.data());
        elsewhere.data()[2 * page] = std::byte{3}; // what it has grown by
        const pid_t child = start_process([&] {
            const bool same = holds(elsewhere.data(), page, 2);
            std::memset(elsewhere.data(), 0, 2 * page);
            return same && is_private_anonymous(elsewhere.data());
        });
        return range && moved == elsewhere.data() && went_well(child) &&
               holds(elsewhere.data(), page, 2);
    })));
}

/// What it has grown by lies at places in the file that are those of other addresses.
TEST_F(UserMemoryTest, PagesThatMovedPagesHaveGrownOverAreRefused)
{
    const Pages memory(8);
    const Pages elsewhere(3);
    fill(memory.data(), memory.bytes());
    SharedRange range = share(memory.data(), 2 * page, SharePolicy::automatic);
    ASSERT_TRUE(range);
    ASSERT_EQ(
        mremap(memory.data(), 2 * page, 3 * page, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere.data()),
        elsewhere.data());
    elsewhere.data()[2 * page] = std::byte{3};
    EXPECT_EQ(share(memory.data() + 2 * page, page, SharePolicy::automatic).refusal(),
              Refusal::in_use);
    EXPECT_TRUE(share(memory.data() + 3 * page, page, SharePolicy::automatic));
    EXPECT_TRUE(holds(memory.data() + 2 * page, 6 * page, 2));
    EXPECT_EQ(elsewhere.data()[2 * page], std::byte{3});
    range.release();
    ASSERT_NE(mmap(elsewhere.data() + 2 * page, page, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              MAP_FAILED);
    ASSERT_NE(mmap(memory.data(), 2 * page, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              MAP_FAILED);
    EXPECT_TRUE(share(memory.data() + 2 * page, page, SharePolicy::automatic));
}

/// Another thread may map something else there in the last moment.
TEST_F(UserMemoryTest, WhatIsBehindPagesIsLookedAtOnceMore)
{
    using host::memory::are_backed_by;
    const auto is_so = [](const host::memory::Backing& backing, const Pages& memory) {
        const File maps(open("/proc/self/maps", O_RDONLY));
        return are_backed_by(backing, host::memory::span_of(memory.data(), memory.bytes()), maps);
    };
    const Pages memory(8);
    const Pages read_only(8);
    EXPECT_TRUE(is_so({}, memory));
    ASSERT_EQ(mprotect(read_only.data() + page, page, PROT_READ), 0);
    EXPECT_FALSE(is_so({}, read_only));
    const File file = create_memory_file();
    ASSERT_TRUE(grow(file, 100 * page));
    ASSERT_EQ(mmap(memory.data() + 3 * page, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                   file.descriptor(), 13 * page),
              memory.data() + 3 * page);
    EXPECT_FALSE(is_so({}, memory));
    ASSERT_EQ(mmap(memory.data(), memory.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                   file.descriptor(), 10 * page),
              memory.data());
    EXPECT_FALSE(is_so({}, memory));
    EXPECT_TRUE(is_so({host::memory::identity_of(file), 10 * page}, memory));
    EXPECT_FALSE(is_so({host::memory::identity_of(file), 11 * page}, memory));
    ASSERT_EQ(munmap(memory.data() + page, page), 0);
    EXPECT_FALSE(is_so({host::memory::identity_of(file), 10 * page}, memory));
    ASSERT_NE(mmap(memory.data() + page, page, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              MAP_FAILED);
}

} // namespace
} // namespace sidelight::unit
