// SPDX-License-Identifier: BSD-3-Clause
#include "base/heavy_barrier.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sidelight {

bool allow_heavy_barriers() noexcept
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

bool heavy_barrier() noexcept
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
}

} // namespace sidelight
