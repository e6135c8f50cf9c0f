// SPDX-License-Identifier: BSD-3-Clause
#include "base/heavy_barrier.hpp"

#include <linux/membarrier.h>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define SIDELIGHT_KNOWS_SINGLE_THREADED 1
#endif
#include <sys/syscall.h>
#include <unistd.h>

namespace sidelight {

namespace {

bool membarrier(int command) noexcept { return syscall(SYS_membarrier, command, 0, 0) == 0; }

} // namespace

bool allow_heavy_barriers() noexcept
{
    return membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
}

bool heavy_barrier() noexcept { return membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED); }

bool allow_own_heavy_barriers() noexcept
{
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

bool own_heavy_barrier() noexcept { return membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED); }

void allow_heavy_barriers_early() noexcept
{
#ifdef SIDELIGHT_KNOWS_SINGLE_THREADED // glibc 2.32
    if (__libc_single_threaded != 0) {
        (void)allow_heavy_barriers();
        (void)allow_own_heavy_barriers();
    }
#endif
}

} // namespace sidelight
