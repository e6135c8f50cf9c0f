// SPDX-License-Identifier: BSD-3-Clause
#include "host/trace_file.hpp"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpu.hpp"
#include "base/log.hpp"

namespace sidelight::host {

/// One moment by three clocks.
struct Moment {
    std::uint64_t ticks;
    std::uint64_t monotonic;
    std::uint64_t real;
};

namespace {

constexpr std::size_t header_bytes = 4096;
constexpr std::size_t chunk_bytes = std::size_t{256} << 10;
constexpr std::uint32_t format_version = 1;

template <class Clock>
std::uint64_t nanoseconds() noexcept
{
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(Clock::now().time_since_epoch()).count());
}

Moment now() noexcept
{
    return {.ticks = ticks(),
            .monotonic = nanoseconds<std::chrono::steady_clock>(),
            .real = nanoseconds<std::chrono::system_clock>()};
}

std::string name_of(TracedProcess process)
{
    char name[64];
    if (process.rank >= 0) {
        std::snprintf(name, sizeof name, "rank-%05d", process.rank);
    } else {
        std::snprintf(name, sizeof name, "process-%d", static_cast<int>(getpid()));
    }
    return name;
}

/// Reserves the room: a page that the disk has none for would end the process. False: errno says
/// why.
bool extend(const File& file, std::uint64_t from, std::size_t bytes) noexcept
{
    if (!grow(file, from + bytes)) {
        return false;
    }
    const int error =
        posix_fallocate(file.descriptor(), static_cast<off_t>(from), static_cast<off_t>(bytes));
    errno = error != 0 ? error : errno;
    return error == 0;
}

void* map(const File& file, std::uint64_t from, std::size_t bytes) noexcept
{
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(),
                       static_cast<off_t>(from));
    return pages == MAP_FAILED ? nullptr : pages;
}

struct CloseFile {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using OpenFile = std::unique_ptr<std::FILE, CloseFile>;

/// Where code lies in this process. False: errno says why.
bool copy_maps(const char* path) noexcept
{
    const OpenFile maps(std::fopen("/proc/self/maps", "re"));
    const OpenFile out(std::fopen(path, "we"));
    if (maps == nullptr || out == nullptr) {
        return false;
    }
    char* line = nullptr;
    std::size_t room = 0;
    while (getline(&line, &room, maps.get()) > 0) {
        if (std::strstr(line, " r-xp ") != nullptr) {
            std::fputs(line, out.get());
        }
    }
    std::free(line);
    return std::ferror(out.get()) == 0;
}

} // namespace

struct TraceFile::Header {
    char magic[8];
    std::uint32_t version;
    std::int32_t rank;
    std::int32_t ranks;
    std::int32_t process;
    std::uint32_t full;
    std::uint32_t unused;
    Moment begin;
    Moment end;
    char host[64];
    char program[256];
};

struct TraceFile::Chunk {
    static constexpr std::size_t most_records = chunk_bytes / sizeof(trace::Record) - 1;

    std::uint32_t records;
    std::uint32_t thread;
    std::uint32_t own;
    std::uint32_t unused[5];
    trace::Record record[most_records];
};

std::unique_ptr<TraceFile> TraceFile::create(const std::string& folder, std::uint64_t limit,
                                             TracedProcess process) noexcept
try {
    static_assert(sizeof(Header) <= header_bytes && sizeof(Chunk) == chunk_bytes);
    mkdir(folder.c_str(), 0777); // it may be there
    const std::string path = folder + "/" + name_of(process);
    // An old one may be another program's that still writes to it.
    unlink((path + ".trace").c_str());
    File file(open((path + ".trace").c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    void* header = nullptr;
    if (!file || !extend(file, 0, header_bytes) ||
        (header = map(file, 0, header_bytes)) == nullptr) {
        log(LogLevel::error, "no trace: %s.trace: %s", path.c_str(), std::strerror(errno));
        return nullptr;
    }
    auto& first = *static_cast<Header*>(header);
    std::memcpy(first.magic, "SDLTRACE", sizeof first.magic);
    first.version = format_version;
    first.rank = process.rank;
    first.ranks = process.ranks;
    first.process = static_cast<std::int32_t>(getpid());
    first.begin = first.end = now();
    gethostname(first.host, sizeof first.host - 1);
    [[maybe_unused]] const ssize_t length =
        readlink("/proc/self/exe", first.program, sizeof first.program - 1);
    auto trace = std::make_unique<TraceFile>(std::move(file), header, limit, path + ".maps");
    trace->settle();
    return trace;
} catch (const std::bad_alloc&) {
    log(LogLevel::error, "no trace: out of memory");
    return nullptr;
}

TraceFile::TraceFile(File file, void* header, std::uint64_t limit, std::string maps) noexcept
    : file_(std::move(file)),
      header_(static_cast<Header*>(header)),
      limit_(limit),
      maps_(std::move(maps)),
      end_(header_bytes)
{}

TraceFile::~TraceFile()
{
    settle();
    munmap(header_, header_bytes);
}

void TraceFile::note(trace::Record record) noexcept
{
    thread_local const TraceFile* filled = nullptr;
    thread_local Chunk* chunk = nullptr;
    if (filled != this || chunk == nullptr || chunk->records == Chunk::most_records) [[unlikely]] {
        chunk = next_chunk(filled == this ? chunk : nullptr);
        filled = this;
        if (chunk == nullptr) {
            return;
        }
    }
    record.time = ticks();
    chunk->record[chunk->records] = record;
    // Behind it, for who reads the file of a process that was killed, or still runs.
    std::atomic_ref(chunk->records).store(chunk->records + 1, std::memory_order_release);
}

/// Null: no more is taken.
TraceFile::Chunk* TraceFile::next_chunk(Chunk* full) noexcept
{
    if (full != nullptr) {
        munmap(full, chunk_bytes);
    }
    if (full_.load(std::memory_order_relaxed)) {
        return nullptr;
    }
    const std::scoped_lock lock(mutex_);
    if (end_ + chunk_bytes > limit_) {
        stop("it has reached SIDELIGHT_TRACE_LIMIT");
        return nullptr;
    }
    void* pages = extend(file_, end_, chunk_bytes) ? map(file_, end_, chunk_bytes) : nullptr;
    if (pages == nullptr) {
        stop(std::strerror(errno));
        return nullptr;
    }
    end_ += chunk_bytes;
    header_->end = now();
    auto* chunk = static_cast<Chunk*>(pages);
    chunk->thread = static_cast<std::uint32_t>(gettid());
    chunk->own = trace::own_thread ? 1 : 0;
    return chunk;
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
    header_->end = now();
    if (!copy_maps(maps_.c_str())) {
        log(LogLevel::warn, "no source lines in the trace: %s: %s", maps_.c_str(),
            std::strerror(errno));
    }
}

} // namespace sidelight::host
