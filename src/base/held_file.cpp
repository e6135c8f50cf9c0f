// SPDX-License-Identifier: BSD-3-Clause
#include "base/held_file.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace sidelight {

FileIdentity identity_of(const File& file) noexcept
{
    struct stat status {};
    return file && fstat(file.descriptor(), &status) == 0
               ? FileIdentity{status.st_dev, status.st_ino}
               : FileIdentity{};
}

/// Not far up where the limit is: the kernel's table of open files is as long as the highest needs.
File out_of_the_way(File file) noexcept
{
    constexpr rlim_t highest = 1024;
    constexpr rlim_t room = 32;
    rlimit limit{};
    if (!file || getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return file;
    }
    const rlim_t end = std::min(limit.rlim_cur, highest);
    const int moved =
        end > room ? fcntl(file.descriptor(), F_DUPFD_CLOEXEC, static_cast<int>(end - room)) : -1;
    return moved >= 0 ? File(moved) : std::move(file);
}

namespace {

/// Of the open file: it goes with the last descriptor of that.
bool try_lock(const File& file, int command, struct flock& range) noexcept
{
    range.l_whence = SEEK_SET;
    range.l_pid = 0;
    return fcntl(file.descriptor(), command, &range) == 0;
}

} // namespace

File hold(const File& file, std::uint64_t end) noexcept
{
    std::array<char, 32> path{};
    std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", file.descriptor());
    File held = out_of_the_way(File(open(path.data(), O_RDONLY | O_CLOEXEC)));
    struct flock all {};
    all.l_type = F_RDLCK;
    all.l_len = static_cast<off_t>(end);
    return held && try_lock(held, F_OFD_SETLK, all) ? std::move(held) : File();
}

bool has_holder(const File& file, std::uint64_t offset, std::size_t bytes) noexcept
{
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_start = static_cast<off_t>(offset);
    range.l_len = static_cast<off_t>(bytes);
    return try_lock(file, F_OFD_GETLK, range) && range.l_type != F_UNLCK;
}

HeldFile& HeldFile::operator=(HeldFile&& other) noexcept
{
    std::swap(file_, other.file_);
    std::swap(identity_, other.identity_);
    return *this;
}

const File& HeldFile::file() noexcept
{
    if (!is_open()) {
        file_.release();
    }
    return file_;
}

} // namespace sidelight
