// SPDX-License-Identifier: BSD-3-Clause
#include "base/process_end.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text_file.hpp"

namespace sidelight {

bool has_ended(int process) noexcept
{
#ifdef SYS_pidfd_open
    const File file(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
    if (file) {
        pollfd ended{.fd = file.descriptor(), .events = POLLIN, .revents = 0};
        return poll(&ended, 1, 0) == 1;
    }
#endif
    return kill(process, 0) != 0 && errno == ESRCH;
}

std::uint64_t started_at(int process) noexcept
{
    std::array<char, 1024> line{}; // "number (name) state", and 18 numbers before it
    std::snprintf(line.data(), line.size(), "/proc/%d/stat", process);
    const TextFile text = open_text(line.data());
    if (text == nullptr || std::fgets(line.data(), line.size(), text.get()) == nullptr) {
        return 0;
    }
    const char* at = std::strrchr(line.data(), ')');
    unsigned long long started = 0;
    const bool found =
        at != nullptr &&
        std::sscanf(at,
                    ") %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                    "%*s %llu",
                    &started) == 1;
    return found ? started : 0;
}

/// Another time may be that of another time namespace: one that has its file open is the same.
bool has_ended(const MemoryFileAddress& file, std::uint64_t started) noexcept
{
    if (has_ended(file.owner)) {
        return true;
    }
    const std::uint64_t now = is_there(file) ? started : started_at(file.owner);
    return started != 0 && now != 0 && now != started;
}

} // namespace sidelight
