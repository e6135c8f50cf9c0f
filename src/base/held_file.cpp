// SPDX-License-Identifier: BSD-3-Clause
#include "base/held_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/file.h>
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

/// A lock goes with the last descriptor of what was opened with it.
File hold(const File& file) noexcept
{
    std::array<char, 32> path{};
    std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", file.descriptor());
    File held = out_of_the_way(File(open(path.data(), O_RDONLY | O_CLOEXEC)));
    if (held && flock(held.descriptor(), LOCK_SH | LOCK_NB) != 0) {
        return File();
    }
    return held;
}

bool has_holder(const File& file) noexcept
{
    if (flock(file.descriptor(), LOCK_EX | LOCK_NB) != 0) {
        return errno == EWOULDBLOCK;
    }
    flock(file.descriptor(), LOCK_UN);
    return false;
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
