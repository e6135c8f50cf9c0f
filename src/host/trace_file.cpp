// SPDX-License-Identifier: BSD-3-Clause
#include "host/trace_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpu.hpp"
#include "base/log.hpp"

namespace sidelight::host {

using trace::chunk_bytes;
using trace::header_bytes;

namespace {

template <class Clock>
std::uint64_t nanoseconds() noexcept
{
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(Clock::now().time_since_epoch()).count());
}

trace::Moment now() noexcept
{
    return {.ticks = ticks(),
            .monotonic = nanoseconds<std::chrono::steady_clock>(),
            .real = nanoseconds<std::chrono::system_clock>()};
}

/// Some milliseconds on most machines: for so long a clock may run on as it did before.
constexpr std::uint64_t ticks_between_looks = std::uint64_t{1} << 24;

/// Again, for as long as a signal of the program's interrupts it. False: errno says why.
template <class Call>
bool insist(Call call) noexcept
{
    bool done = call();
    while (!done && errno == EINTR) {
        done = call();
    }
    return done;
}

/// Of a file that is as long: a page that the disk has none for would end the process. False: errno
/// says why.
bool allocate(const File& file, std::uint64_t from, std::size_t bytes) noexcept
{
    return insist([&] {
        const int error =
            posix_fallocate(file.descriptor(), static_cast<off_t>(from), static_cast<off_t>(bytes));
        errno = error != 0 ? error : errno;
        return error == 0;
    });
}

void cut(const File& file, std::uint64_t end) noexcept
{
    [[maybe_unused]] const bool done =
        insist([&] { return ftruncate(file.descriptor(), static_cast<off_t>(end)) == 0; });
}

void* map(const File& file, std::uint64_t from, std::size_t bytes) noexcept
{
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(),
                       static_cast<off_t>(from));
    return pages == MAP_FAILED ? nullptr : pages;
}

/// The chunk that a thread fills, and of which file it is. It has no destructor, so that a thread
/// may still note something when others of its destructors run.
struct Filled {
    std::uint64_t file = 0;
    trace::Chunk* chunk = nullptr;
};
thread_local Filled filled;

/// Chunks of threads that have ended, for those that begin later: a chunk for each thread that
/// there ever was would fill the file.
struct LeftChunks {
    std::mutex mutex;
    std::vector<Filled> all;

    void add(const Filled& left) noexcept
    try {
        const std::scoped_lock lock(mutex);
        all.push_back(left);
    } catch (const std::bad_alloc&) {
        // nobody fills it up
    }
    /// Null: there is none.
    trace::Chunk* take(std::uint64_t file, bool own) noexcept
    {
        const std::scoped_lock lock(mutex);
        const auto found = std::find_if(all.begin(), all.end(), [=](const Filled& left) {
            return left.file == file && (left.chunk->head.own != 0) == own;
        });
        if (found == all.end()) {
            return nullptr;
        }
        trace::Chunk* chunk = found->chunk;
        all.erase(found);
        return chunk;
    }
};

/// Never destroyed: threads end until the process does.
LeftChunks& left_chunks() noexcept
{
    alignas(LeftChunks) static std::array<std::byte, sizeof(LeftChunks)> place;
    static auto* chunks = new (place.data()) LeftChunks;
    return *chunks;
}

struct LeavesChunk {
    /// The first thread ends with its process, which may be a child that was forked while another
    /// thread had the lock.
    ~LeavesChunk()
    {
        if (filled.chunk != nullptr && gettid() != getpid()) {
            left_chunks().add(filled);
        }
        filled = {};
    }
};

std::uint64_t next_number() noexcept
{
    static std::atomic<std::uint64_t> files{0};
    return ++files;
}

} // namespace

std::unique_ptr<TraceFile> TraceFile::create(const std::string& folder, std::uint64_t limit,
                                             TracedProcess process) noexcept
try {
    mkdir(folder.c_str(), 0777); // it may be there
    const std::string path = folder + "/" + trace::file_name(process.rank);
    const std::string name = path + ".trace";
    File file;
    void* header = nullptr;
    if (access(name.c_str(), F_OK) == 0) {
        log(LogLevel::warn, "%s takes the place of an older one", name.c_str());
    }
    const bool made = insist([&] {
        unlink(name.c_str()); // an old one may be another program's that still writes to it
        file = File(open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
        return file && grow(file, header_bytes);
    });
    if (!made || !allocate(file, 0, header_bytes) ||
        (header = map(file, 0, header_bytes)) == nullptr) {
        log(LogLevel::error, "no trace: %s.trace: %s", path.c_str(), std::strerror(errno));
        if (file) {
            unlink(name.c_str()); // a file of zeros is no trace
        }
        return nullptr;
    }
    auto& first = *static_cast<trace::FileHeader*>(header);
    first = trace::header_of(process.rank, process.ranks);
    first.process = static_cast<std::int32_t>(getpid());
    first.begin = first.end = now();
    gethostname(first.host, sizeof first.host - 1);
    auto trace = std::make_unique<TraceFile>(std::move(file), &first, limit, path + ".maps");
    trace->settle();
    return trace;
} catch (const std::bad_alloc&) {
    log(LogLevel::error, "no trace: out of memory");
    return nullptr;
}

TraceFile::TraceFile(File file, trace::FileHeader* header, std::uint64_t limit,
                     std::string maps) noexcept
    : header_(header),
      limit_(limit),
      maps_(std::move(maps)),
      number_(next_number()),
      file_(std::move(file)),
      end_(header_bytes)
{}

TraceFile::~TraceFile()
{
    settle();
    munmap(header_, header_bytes);
}

void TraceFile::note(trace::Record record) noexcept
{
    trace::Chunk* chunk = filled.chunk;
    if (filled.file != number_ || chunk == nullptr || chunk->head.records == trace::most_records)
        [[unlikely]] {
        chunk = next_chunk(filled.file == number_ ? chunk : nullptr);
        filled = {.file = number_, .chunk = chunk};
        if (chunk == nullptr) {
            return;
        }
    }
    record.time = ticks();
    std::uint32_t& records = chunk->head.records;
    chunk->record[records] = record;
    // Behind it, for who reads the file of a process that was killed, or still runs.
    std::atomic_ref(records).store(records + 1, std::memory_order_release);
    if (record.time > looked_at_.load(std::memory_order_relaxed) + ticks_between_looks)
        [[unlikely]] {
        if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) {
            look_at_clocks();
        }
    }
}

/// Null: no more is taken.
trace::Chunk* TraceFile::next_chunk(trace::Chunk* full) noexcept
{
    if (full_.load(std::memory_order_relaxed)) {
        return nullptr;
    }
    // The kernel makes a file longer for one thread at a time, so who waits here loses nothing.
    const std::scoped_lock lock(mutex_);
    if (full != nullptr) {
        return append(*full) ? full : nullptr;
    }
    thread_local const LeavesChunk at_the_end;
    if (trace::Chunk* left = left_chunks().take(number_, trace::own_thread); left != nullptr) {
        return left->head.records < trace::most_records || append(*left) ? left : nullptr;
    }
    const std::uint64_t from = reserve();
    if (from == 0) {
        return nullptr;
    }
    void* pages = map(file_.file(), from, chunk_bytes);
    if (pages == nullptr) {
        stop(std::strerror(errno));
        return nullptr;
    }
    auto* chunk = static_cast<trace::Chunk*>(pages);
    chunk->head.thread = ++threads_;
    chunk->head.own = trace::own_thread ? 1 : 0;
    return chunk;
}

/// A copy of it goes to the end of the file, and its place is empty again. Whoever is killed in
/// between leaves both.
bool TraceFile::append(trace::Chunk& full) noexcept
{
    const std::uint64_t from = reserve();
    if (from == 0) {
        return false;
    }
    const auto* bytes = reinterpret_cast<const char*>(&full);
    for (std::size_t written = 0; written < chunk_bytes;) {
        const ssize_t more = pwrite(file_.descriptor(), bytes + written, chunk_bytes - written,
                                    static_cast<off_t>(from + written));
        if (more <= 0 && errno != EINTR) {
            stop(std::strerror(errno));
            return false;
        }
        written += more > 0 ? static_cast<std::size_t>(more) : 0;
    }
    std::atomic_ref(full.head.records).store(0, std::memory_order_release);
    return true;
}

/// The place of one more chunk; 0: there is none. What the program has opened by the number of a
/// file that it has closed is its own.
std::uint64_t TraceFile::reserve() noexcept
{
    const File& file = file_.file();
    if (!file) {
        stop("the program has closed its file");
        return 0;
    }
    if (end_ + chunk_bytes > limit_) {
        stop("it has reached SIDELIGHT_TRACE_LIMIT");
        return 0;
    }
    if (!insist([&] { return grow(file, end_ + chunk_bytes); }) ||
        !allocate(file, end_, chunk_bytes)) {
        stop(std::strerror(errno));
        cut(file, end_); // who reads a page that the disk has no room for is ended, too
        return 0;
    }
    look_at_clocks();
    return std::exchange(end_, end_ + chunk_bytes);
}

/// For who reads the file of a process that was killed.
void TraceFile::look_at_clocks() noexcept
{
    header_->end = now();
    looked_at_.store(header_->end.ticks, std::memory_order_relaxed);
}

void TraceFile::stop(const char* why) noexcept
{
    if (!full_.exchange(true)) {
        header_->full = 1;
        log(LogLevel::error, "the trace ends here: %s", why);
    }
}

void TraceFile::settle() noexcept
{
    const std::scoped_lock lock(mutex_);
    look_at_clocks();
    if (!trace::copy_maps(maps_.c_str())) {
        log(LogLevel::warn, "no source lines in the trace: %s: %s", maps_.c_str(),
            std::strerror(errno));
    }
}

} // namespace sidelight::host
