// SPDX-License-Identifier: BSD-3-Clause
#include "base/system_limits.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

namespace sidelight {
namespace {

/// With the brackets around it; empty: nothing in particular.
const char* cure_of(int error) noexcept
{
    switch (error) {
    case EMFILE:
        return " (raise ulimit -n)";
    case ENFILE:
        return " (raise the system's fs.file-max)";
    case EFBIG:
        return " (raise ulimit -f)";
    case ENOMEM:
        return " (raise ulimit -v, or the memory of the job's control group)";
    case ENOENT:
        return " (/proc is needed)";
    case EACCES:
        return " (it takes the same user, and a process that may be looked into)";
    case EPERM:
    case ENOSYS:
        return " (a filter of system calls must allow memfd_create)";
    default:
        return "";
    }
}

} // namespace

ReasonText reason_of(int error) noexcept
{
    ReasonText reason;
    std::snprintf(reason.text.data(), reason.text.size(), "%s%s", std::strerror(error),
                  cure_of(error));
    return reason;
}

ReasonText lack_of_files(int wanted) noexcept
{
    ReasonText reason;
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return reason;
    }
    constexpr rlim_t most = std::numeric_limits<int>::max();
    const int end = static_cast<int>(std::min(limit.rlim_cur, most));
    int left = 0;
    for (int descriptor = 0; descriptor < end && left < wanted; ++descriptor) {
        left += fcntl(descriptor, F_GETFD) < 0 ? 1 : 0;
    }
    if (left < wanted) {
        std::snprintf(reason.text.data(), reason.text.size(),
                      "it takes %d files, and of the %d of ulimit -n only %d are left: raise it",
                      wanted, end, left);
    }
    return reason;
}

ReasonText lack_of_addresses(std::size_t wanted) noexcept
{
    ReasonText reason;
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return reason;
    }
    void* const place =
        mmap(nullptr, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place != MAP_FAILED) {
        munmap(place, wanted);
        return reason;
    }
    std::snprintf(
        reason.text.data(), reason.text.size(),
        "it takes %zu MB of addresses, and of the %zu of ulimit -v fewer are left: raise it",
        wanted >> 20, static_cast<std::size_t>(limit.rlim_cur >> 20));
    return reason;
}

} // namespace sidelight
