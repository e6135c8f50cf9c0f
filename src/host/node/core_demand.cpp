// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/core_demand.hpp"

#include <ctime>

#include <sys/resource.h>

namespace sidelight::host::node {

/// The times in `rusage` are those of the last tick, so the time comes from the thread's clock.
CoreUse core_use(std::chrono::nanoseconds now) noexcept
{
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return {.now = now,
            .used = std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec),
            .slept = usage.ru_nvcsw,
            .displaced = usage.ru_nivcsw};
}

} // namespace sidelight::host::node
