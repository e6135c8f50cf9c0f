// SPDX-License-Identifier: BSD-3-Clause
#include "base/process_end.hpp"

#include <cerrno>
#include <csignal>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/shared_memory.hpp"

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

} // namespace sidelight
