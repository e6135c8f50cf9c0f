// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/core_demand.hpp"

#include <sys/resource.h>

#include "base/clock.hpp"

namespace sidelight::host::node {

/// The times in `rusage` are those of the last tick, so the time comes from the thread's clock.
CoreUse core_use(Time now) noexcept
{
    const Time used = processor_time();
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return {.now = now, .used = used, .slept = usage.ru_nvcsw, .displaced = usage.ru_nivcsw};
}

} // namespace sidelight::host::node
