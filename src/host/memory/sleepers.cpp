// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/sleepers.hpp"

#include <climits>
#include <cstdio>
#include <cstring>
#include <memory>

#include <dirent.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sidelight::host::memory {
namespace {

struct Close {
    void operator()(DIR* directory) const noexcept { closedir(directory); }
    void operator()(FILE* file) const noexcept { std::fclose(file); }
};

/// The address that this thread sleeps at in a futex, else 0.
std::uintptr_t sleeps_at(const char* thread) noexcept
{
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/task/%.20s/syscall", thread);
    const std::unique_ptr<FILE, Close> file(std::fopen(path, "re"));
    long call = -1;
    unsigned long address = 0;
    const bool known = file && std::fscanf(file.get(), "%ld %lx", &call, &address) == 2;
    return known && call == SYS_futex ? address : 0;
}

} // namespace

void wake_sleepers(Span pages, const File& file, std::uint64_t offset) noexcept
{
    syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
    const Mapping view = Mapping::part(file, offset, pages.bytes());
    const std::unique_ptr<DIR, Close> threads(opendir("/proc/self/task"));
    const dirent* thread = nullptr;
    while (view && threads && (thread = readdir(threads.get())) != nullptr) {
        const std::uintptr_t address = sleeps_at(static_cast<const char*>(thread->d_name));
        if (pages.holds(address)) {
            syscall(SYS_futex, view.data() + (address - pages.first), FUTEX_WAKE, INT_MAX, nullptr,
                    nullptr, 0);
        }
    }
}

} // namespace sidelight::host::memory
