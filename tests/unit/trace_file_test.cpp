// SPDX-License-Identifier: BSD-3-Clause
#include "host/trace_file.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/open_files.hpp"

namespace {
int interruptions = 0; // by signals, of the calls below that come next
bool disk_is_full = false;
} // namespace

/// In place of the C library's: the disk takes long.
extern "C" int posix_fallocate(int file, off_t from, off_t bytes)
{
    if (interruptions > 0) {
        --interruptions;
        return EINTR;
    }
    if (disk_is_full) {
        return ENOSPC;
    }
    return fallocate(file, 0, from, bytes) == 0 ? 0 : errno;
}

namespace sidelight::host {
namespace {

constexpr std::uint64_t no_limit = ~std::uint64_t{0};
constexpr std::size_t header_bytes = 4096;
constexpr std::size_t chunk_bytes = std::size_t{256} << 10;
constexpr std::uint64_t records_of_chunk = chunk_bytes / sizeof(trace::Record) - 1;

/// A folder of its own, which is gone afterwards.
class TraceFiles : public testing::Test {
protected:
    TraceFiles()
    {
        char name[] = "/tmp/trace-file-XXXXXX";
        folder_ = mkdtemp(name);
    }
    ~TraceFiles() override { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::unique_ptr<TraceFile> create(std::uint64_t limit = no_limit) const
    {
        return TraceFile::create(folder_, limit, {.rank = 3, .ranks = 5});
    }
    [[nodiscard]] std::string contents() const
    {
        std::ifstream in(folder_ + "/rank-00003.trace", std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    std::string folder_;
};

template <class Value>
Value read(const std::string& bytes, std::size_t at)
{
    Value value{};
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

/// The records of each chunk.
std::vector<std::vector<trace::Record>> chunks_of(const std::string& bytes)
{
    std::vector<std::vector<trace::Record>> chunks;
    for (std::size_t at = header_bytes; at + chunk_bytes <= bytes.size(); at += chunk_bytes) {
        const auto records = read<std::uint32_t>(bytes, at);
        auto& chunk = chunks.emplace_back();
        for (std::size_t number = 1; number <= records; ++number) {
            chunk.push_back(read<trace::Record>(bytes, at + number * sizeof(trace::Record)));
        }
    }
    return chunks;
}

void note(TraceFile& file, std::uint64_t records, std::uint64_t first)
{
    for (std::uint64_t number = 0; number < records; ++number) {
        file.note({.event = trace::Event::moved, .value = first + number});
    }
}

} // namespace

TEST_F(TraceFiles, SayWhoseTheyAreAndKeepTheOrderOfEachThread)
{
    constexpr std::uint64_t of_main = 20'000;
    constexpr std::uint64_t of_other = 1'000;
    {
        const auto file = create();
        ASSERT_NE(file, nullptr);
        note(*file, of_main, 0);
        std::thread([&] { note(*file, of_other, of_main); }).join();
        note(*file, 1, of_main + of_other);
    }
    const std::string bytes = contents();
    ASSERT_GE(bytes.size(), header_bytes);
    EXPECT_EQ(bytes.substr(0, 8), "SDLTRACE");
    EXPECT_EQ(read<std::int32_t>(bytes, 12), 3);
    EXPECT_EQ(read<std::int32_t>(bytes, 16), 5);
    EXPECT_EQ(read<std::uint32_t>(bytes, 24), 0U);
    std::vector<std::uint64_t> values;
    std::vector<std::uint64_t> others;
    auto chunks = chunks_of(bytes);
    std::sort(chunks.begin(), chunks.end(), [](const auto& one, const auto& another) {
        return one.front().time < another.front().time;
    });
    for (const auto& chunk : chunks) {
        ASSERT_FALSE(chunk.empty());
        const bool other =
            chunk.front().value >= of_main && chunk.front().value < of_main + of_other;
        for (const trace::Record& record : chunk) {
            (other ? others : values).push_back(record.value);
        }
    }
    ASSERT_EQ(values.size(), of_main + 1);
    ASSERT_EQ(others.size(), of_other);
    for (std::uint64_t number = 0; number < of_main; ++number) {
        EXPECT_EQ(values[number], number);
    }
    EXPECT_EQ(values.back(), of_main + of_other);
    EXPECT_TRUE(std::filesystem::exists(folder_ + "/rank-00003.maps"));
}

/// Some programs have a thread for each task.
TEST_F(TraceFiles, HoldManyThreadsThatEndInTheRoomOfOne)
{
    constexpr std::uint64_t threads = 10'000; // more than there are records in a chunk
    const auto file = create();
    ASSERT_NE(file, nullptr);
    for (std::uint64_t number = 0; number < threads; ++number) {
        std::thread([&] { note(*file, 1, number); }).join();
    }
    std::uint64_t expected = 0;
    auto chunks = chunks_of(contents());
    ASSERT_EQ(chunks.size(), 2U);
    std::swap(chunks.front(), chunks.back()); // the one that is filled lies before the full one
    for (const auto& chunk : chunks) {
        for (const trace::Record& record : chunk) {
            EXPECT_EQ(record.value, expected++);
        }
    }
    EXPECT_EQ(expected, threads);
}

TEST_F(TraceFiles, DoNotMixThreadsOfTheLibraryWithOthers)
{
    const auto file = create();
    ASSERT_NE(file, nullptr);
    std::thread([&] { note(*file, 1, 0); }).join();
    std::thread([&] {
        trace::own_thread = true;
        note(*file, 1, 1);
    }).join();
    std::thread([&] { note(*file, 1, 2); }).join();
    const auto chunks = chunks_of(contents());
    ASSERT_EQ(chunks.size(), 2U);
    EXPECT_EQ(chunks.front().size(), 2U);
    EXPECT_EQ(chunks.back().size(), 1U);
}

/// Somebody else may write to the folder, and know the name.
TEST_F(TraceFiles, TakeThePlaceOfALinkAndDoNotFollowIt)
{
    const std::string target = folder_ + "/precious";
    const std::string link = folder_ + "/rank-00004.maps";
    std::ofstream(target) << "precious";
    std::filesystem::create_symlink(target, link);
    EXPECT_TRUE(trace::copy_maps(link.c_str()));
    EXPECT_EQ(std::filesystem::file_size(target), 8U);
    EXPECT_FALSE(std::filesystem::is_symlink(link));
    EXPECT_GT(std::filesystem::file_size(link), 8U);
}

TEST_F(TraceFiles, GoOnAfterSignals)
{
    interruptions = 2;
    const auto file = create();
    ASSERT_NE(file, nullptr);
    interruptions = 2;
    std::thread([&] { note(*file, 10, 0); }).join();
    const auto chunks = chunks_of(contents());
    ASSERT_EQ(chunks.size(), 1U);
    EXPECT_EQ(chunks.front().size(), 10U);
}

TEST_F(TraceFiles, EndAtTheirLimit)
{
    const auto file = create(header_bytes + chunk_bytes);
    ASSERT_NE(file, nullptr);
    note(*file, 3 * records_of_chunk, 0);
    const std::string bytes = contents();
    EXPECT_EQ(bytes.size(), header_bytes + chunk_bytes);
    EXPECT_EQ(read<std::uint32_t>(bytes, 24), 1U);
    EXPECT_EQ(chunks_of(bytes).front().size(), records_of_chunk);
}

/// The kernel would end the program for a file that is longer than the user allows (ulimit -f).
TEST_F(TraceFiles, EndWhereFilesMayNotBeLonger)
{
    const pid_t child = fork();
    if (child == 0) {
        const auto file = create();
        const rlimit limit{.rlim_cur = header_bytes + chunk_bytes,
                           .rlim_max = header_bytes + chunk_bytes};
        setrlimit(RLIMIT_FSIZE, &limit);
        note(*file, 3 * records_of_chunk, 0);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    const std::string bytes = contents();
    EXPECT_EQ(read<std::uint32_t>(bytes, 24), 1U);
    EXPECT_EQ(chunks_of(bytes).front().size(), records_of_chunk);
}

TEST_F(TraceFiles, HaveNoNamesWhereFilesMayNotBeLonger)
{
    const pid_t child = fork();
    if (child == 0) {
        const rlimit limit{.rlim_cur = 100, .rlim_max = 100};
        setrlimit(RLIMIT_FSIZE, &limit);
        _exit(!trace::copy_maps((folder_ + "/rank-00005.maps").c_str()) && errno == EFBIG ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(TraceFiles, HoldWhatAKilledProcessHasNoted)
{
    const pid_t child = fork();
    if (child == 0) {
        const auto file = create();
        note(*file, 10, 0);
        kill(getpid(), SIGKILL);
    }
    waitpid(child, nullptr, 0);
    const auto chunks = chunks_of(contents());
    ASSERT_EQ(chunks.size(), 1U);
    EXPECT_EQ(chunks.front().size(), 10U);
}

/// Else its times would follow from the first moments of its clocks.
TEST_F(TraceFiles, KnowHowTheClocksOfAKilledProcessRan)
{
    constexpr std::uint64_t milliseconds = 1'000'000;
    const pid_t child = fork();
    if (child == 0) {
        const auto file = create();
        note(*file, 1, 0);
        std::this_thread::sleep_for(std::chrono::milliseconds(1100));
        note(*file, 1, 1);
        kill(getpid(), SIGKILL);
    }
    waitpid(child, nullptr, 0);
    const std::string bytes = contents();
    const auto begin = read<trace::Moment>(bytes, 32);
    const auto end = read<trace::Moment>(bytes, 56);
    EXPECT_GE(end.ticks, chunks_of(bytes).front().back().time);
    EXPECT_GE(end.monotonic - begin.monotonic, 1000 * milliseconds);
}

TEST_F(TraceFiles, LeaveAloneWhatAnotherProgramStillWrites)
{
    const auto first = create();
    note(*first, 1, 0);
    const auto second = create();
    ASSERT_NE(second, nullptr);
    std::thread([&] { note(*second, 2, 0); }).join();
    note(*first, 1, 1);
    EXPECT_EQ(chunks_of(contents()).front().size(), 2U);
}

/// A daemon closes all descriptors that it does not know.
TEST_F(TraceFiles, LeaveAFileOfTheProgramsInThePlaceOfOneThatItClosedAlone)
{
    const int number = unit::next_descriptor();
    auto file = create();
    ASSERT_NE(file, nullptr);
    const std::string precious = folder_ + "/precious";
    std::thread([&] {
        note(*file, 10, 0);
        close(number);
        ASSERT_EQ(open(precious.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), number);
        note(*file, 3 * records_of_chunk, 10);
    }).join();
    std::thread([&] { note(*file, 1, 0); }).join();
    file.reset();
    EXPECT_EQ(std::filesystem::file_size(precious), 0U);
    EXPECT_EQ(fcntl(number, F_GETFD), FD_CLOEXEC);
    close(number);
    const std::string bytes = contents();
    EXPECT_EQ(read<std::uint32_t>(bytes, 24), 1U);
    EXPECT_EQ(chunks_of(bytes).front().size(), records_of_chunk);
}

/// A file of zeros would keep the others' from being read.
TEST_F(TraceFiles, AreNotLeftWhereTheDiskIsFull)
{
    disk_is_full = true;
    EXPECT_EQ(create(), nullptr);
    disk_is_full = false;
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

/// Who reads a file that is longer than what the disk has for it is ended by a signal.
TEST_F(TraceFiles, AreNoLongerThanTheDiskHasRoomFor)
{
    const auto file = create();
    ASSERT_NE(file, nullptr);
    note(*file, records_of_chunk, 0);
    disk_is_full = true;
    std::thread([&] { note(*file, 1, 0); }).join();
    note(*file, 1, records_of_chunk);
    disk_is_full = false;
    const std::string bytes = contents();
    EXPECT_EQ(bytes.size(), header_bytes + chunk_bytes);
    EXPECT_EQ(read<std::uint32_t>(bytes, 24), 1U);
    EXPECT_EQ(chunks_of(bytes).front().size(), records_of_chunk);
}

TEST_F(TraceFiles, AreNotMadeWhereTheFolderCannotBe)
{
    EXPECT_EQ(TraceFile::create("/proc/no-such-folder", no_limit, {}), nullptr);
}

} // namespace sidelight::host
