// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/sleepers.hpp"

#include <array>
#include <climits>
#include <cstdio>

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sidelight::host::memory {
namespace {

/// What the kernel says of the system call that a thread is in.
struct Call {
    bool known = false;
    long number = -1;
    unsigned long first_argument = 0;
};

Call call_of(int threads, const char* thread) noexcept
{
    std::array<char, 64> path;
    std::array<char, 256> text;
    std::snprintf(path.data(), path.size(), "%.20s/syscall", thread);
    const File file(openat(threads, path.data(), O_RDONLY | O_CLOEXEC));
    const ssize_t got = file ? read(file.descriptor(), text.data(), text.size() - 1) : 0;
    text[got > 0 ? static_cast<std::size_t>(got) : 0] = '\0';
    Call call{.known = got > 0};
    [[maybe_unused]] const int found =
        std::sscanf(text.data(), "%ld %lx", &call.number, &call.first_argument);
    return call;
}

void wake_at(const std::byte* word) noexcept
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

} // namespace

Sleepers::Sleepers(Span pages, const File& file, std::uint64_t offset) noexcept
    : pages_(pages),
      view_(Mapping::part(file, offset, pages.bytes())),
      threads_(opendir("/proc/self/task"))
{}

void Sleepers::wake() const noexcept
{
    syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
    bool all_known = true;
    const dirent* thread = nullptr;
    while ((thread = readdir(threads_.get())) != nullptr) {
        const char* name = static_cast<const char*>(thread->d_name);
        if (name[0] == '.') {
            continue;
        }
        const Call call = call_of(dirfd(threads_.get()), name);
        all_known = all_known && call.known;
        if (call.number == SYS_futex && pages_.holds(call.first_argument)) {
            wake_at(view_.data() + (call.first_argument - pages_.first));
        }
    }
    for (std::size_t at = 0; !all_known && at < pages_.bytes(); at += sizeof(std::uint32_t)) {
        wake_at(view_.data() + at); // slow, but nobody is left asleep
    }
}

} // namespace sidelight::host::memory
