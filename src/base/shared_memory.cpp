// SPDX-License-Identifier: BSD-3-Clause
#include "base/shared_memory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/bytes.hpp"
#include "base/descriptors.hpp"

namespace sidelight {
namespace {

std::uint64_t inode_of(int descriptor) noexcept
{
    struct stat status {};
    return fstat(descriptor, &status) == 0 ? status.st_ino : 0;
}

std::array<char, 64> path_of(const MemoryFileAddress& address) noexcept
{
    std::array<char, 64> path{};
    std::snprintf(path.data(), path.size(), "/proc/%d/fd/%d", address.owner, address.descriptor);
    return path;
}

/// Whether the file is there, without opening it.
bool look_at(const MemoryFileAddress& address, struct stat& status) noexcept
{
    return stat(path_of(address).data(), &status) == 0 && status.st_ino == address.inode;
}

/// What create_memory_file names its files; the kernel puts more before and behind it.
constexpr const char* name_of_ours = "sidelight";

/// Whether the library has made it, of this process or another one.
bool is_ours(const MemoryFileAddress& address) noexcept
{
    constexpr std::string_view before = "/memfd:";
    std::array<char, 64> link{};
    const ssize_t length = readlink(path_of(address).data(), link.data(), link.size());
    const std::string_view name(link.data(), length < 0 ? 0 : static_cast<std::size_t>(length));
    return name.starts_with(before) && name.substr(before.size()).starts_with(name_of_ours);
}

/// Whether the file may have been locked through that descriptor of this process.
bool may_lock(int descriptor, const struct stat& file) noexcept
{
    struct stat status {};
    return fstat(descriptor, &status) == 0 && status.st_ino == file.st_ino &&
           status.st_dev == file.st_dev && (fcntl(descriptor, F_GETFL) & O_PATH) == 0;
}

/// Mapping pages for writing makes a file of huge pages as long.
bool would_grow(int descriptor, std::size_t page, std::uint64_t last) noexcept
{
    struct stat status {};
    return page != page_size() && fstat(descriptor, &status) == 0 &&
           static_cast<std::uint64_t>(status.st_size) < last;
}

bool may_be_so_long(std::uint64_t bytes) noexcept
{
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= bytes) {
        return true;
    }
    errno = EFBIG;
    return false;
}

std::size_t whole_pages(std::size_t bytes) noexcept
{
    return round_up(std::max<std::size_t>(bytes, 1), page_size());
}

/// The unit in which the file is mapped and unmapped.
std::size_t page_of(int descriptor) noexcept
{
    struct statfs system {};
    const bool huge = fstatfs(descriptor, &system) == 0 && system.f_type == HUGETLBFS_MAGIC;
    return huge ? static_cast<std::size_t>(system.f_bsize) : page_size();
}

/// MAP_FAILED on failure. What is aligned to more than a page is mapped over a larger reservation.
void* map_aligned(std::size_t length, std::size_t alignment, int flags, int descriptor) noexcept
{
    constexpr int access = PROT_READ | PROT_WRITE;
    if (alignment <= page_size()) {
        return mmap(nullptr, length, access, flags, descriptor, 0);
    }
    void* const reserved = mmap(nullptr, length + alignment, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) {
        return reserved;
    }
    const auto first = reinterpret_cast<std::uintptr_t>(reserved);
    const std::uintptr_t at = round_up(first, alignment);
    auto* const begin = static_cast<std::byte*>(reserved) + (at - first);
    void* const mapped = mmap(begin, length, access, flags | MAP_FIXED, descriptor, 0);
    if (mapped == MAP_FAILED) {
        munmap(reserved, length + alignment);
        return mapped;
    }
    if (at != first) {
        munmap(reserved, at - first);
    }
    munmap(begin + length, alignment - (at - first));
    return mapped;
}

} // namespace

std::size_t page_size() noexcept
{
    static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}

File::File(int descriptor) noexcept : descriptor_(descriptor)
{
    if (descriptor >= STDIN_FILENO && descriptor <= STDERR_FILENO) {
        descriptor_ = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        const int error = errno;
        close(descriptor);
        errno = error;
    }
}

File::~File()
{
    if (descriptor_ >= 0) {
        close(descriptor_);
    }
}

File& File::operator=(File&& other) noexcept
{
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

int File::release() noexcept { return std::exchange(descriptor_, -1); }

bool grow(const File& file, std::uint64_t bytes) noexcept
{
    struct stat status {};
    if (fstat(file.descriptor(), &status) != 0) {
        return false;
    }
    return static_cast<std::uint64_t>(status.st_size) >= bytes ||
           (may_be_so_long(bytes) && ftruncate(file.descriptor(), static_cast<off_t>(bytes)) == 0);
}

File create_memory_file() noexcept
{
    constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    constexpr unsigned not_executable = 8; // MFD_NOEXEC_SEAL of Linux 6.3
    File file(memfd_create(name_of_ours, flags | not_executable));
    if (!file && errno == EINVAL) { // it does not know that
        file = File(memfd_create(name_of_ours, flags));
    }
    if (file) {
        fcntl(file.descriptor(), F_ADD_SEALS, F_SEAL_SHRINK);
    }
    return file;
}

void punch(const File& file, std::uint64_t offset, std::uint64_t bytes) noexcept
{
    [[maybe_unused]] const int result =
        fallocate(file.descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(offset), static_cast<off_t>(bytes));
}

bool map_over(void* pages, std::size_t bytes, const File& file, std::uint64_t offset,
              int how) noexcept
{
    const long result = syscall(SYS_mmap, pages, bytes, PROT_READ | PROT_WRITE, how | MAP_FIXED,
                                file.descriptor(), static_cast<off_t>(offset));
    return result == reinterpret_cast<std::intptr_t>(pages);
}

MemoryFileAddress address_of(const File& file) noexcept
{
    return {
        .owner = getpid(), .descriptor = file.descriptor(), .inode = inode_of(file.descriptor())};
}

bool is_there(const MemoryFileAddress& address) noexcept
{
    struct stat status {};
    return look_at(address, status);
}

File open_memory_file(const MemoryFileAddress& address) noexcept
{
    struct stat status {};
    if (!look_at(address, status)) {
        return File(); // opening what the owner has there now might do something
    }
    File file(open(path_of(address).data(), O_RDWR | O_CLOEXEC));
    if (!file || inode_of(file.descriptor()) != address.inode) {
        return File();
    }
    return file;
}

Mapping::Mapping(void* address, std::size_t bytes, std::size_t before) noexcept
{
    if (address != MAP_FAILED) {
        data_ = static_cast<std::byte*>(address) + before;
        bytes_ = bytes;
        before_ = before;
    }
}

Mapping::~Mapping()
{
    if (data_ != nullptr) {
        munmap(data_ - before_, bytes_);
    }
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      before_(std::exchange(other.before_, 0))
{}

Mapping& Mapping::operator=(Mapping&& other) noexcept
{
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(before_, other.before_);
    return *this;
}

Mapping Mapping::shared(const File& file, std::size_t bytes, std::size_t alignment) noexcept
{
    const std::size_t length = whole_pages(bytes);
    if (length < bytes || !grow(file, length)) {
        return {};
    }
    return {map_aligned(length, alignment, MAP_SHARED, file.descriptor()), length};
}

Mapping Mapping::part(const File& file, std::uint64_t offset, std::size_t bytes) noexcept
{
    return grow(file, offset + whole_pages(bytes))
               ? map_range(file.descriptor(), {.file = {}, .offset = offset, .bytes = bytes})
               : Mapping();
}

/// A process that has the file open maps it through that descriptor: closing any other one would
/// give up the record locks (fcntl) that it has on the file. Nobody has any on what the library has
/// made, so that is mapped without a look at all descriptors.
Mapping Mapping::of(const FileRange& where) noexcept
{
    struct stat wanted {};
    if (!look_at(where.file, wanted)) {
        return {};
    }
    Mapping mapping;
    bool is_open = false;
    if (!is_ours(where.file)) {
        any_descriptor([&](int descriptor) {
            if (may_lock(descriptor, wanted)) {
                is_open = true;
                mapping = map_range(descriptor, where);
            }
            return static_cast<bool>(mapping);
        });
    }
    if (is_open) {
        return mapping;
    }
    const File file = open_memory_file(where.file);
    return file ? map_range(file.descriptor(), where) : Mapping();
}

Mapping Mapping::map_range(int descriptor, const FileRange& where) noexcept
{
    const std::size_t page = page_of(descriptor);
    const std::size_t before = where.offset % page;
    const std::size_t length = round_up(before + where.bytes, page);
    if (length < where.bytes || would_grow(descriptor, page, where.offset - before + length)) {
        return {};
    }
    return {mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor,
                 static_cast<off_t>(where.offset - before)),
            length, before};
}

Mapping Mapping::anonymous(std::size_t bytes, std::size_t alignment) noexcept
{
    const std::size_t length = whole_pages(bytes);
    if (length < bytes) {
        return {};
    }
    return {map_aligned(length, alignment, MAP_PRIVATE | MAP_ANONYMOUS, -1), length};
}

} // namespace sidelight
