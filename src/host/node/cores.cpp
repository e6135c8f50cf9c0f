// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/cores.hpp"

#include <cstdlib>
#include <memory>

#include <sched.h>
#include <unistd.h>

#include "base/digest.hpp"

namespace sidelight::host::node {

namespace {

constexpr int most_cores = 8192;

struct FreeCpuSet {
    void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};
using CpuSet = std::unique_ptr<cpu_set_t, FreeCpuSet>;

/// The cores of this process; empty where the kernel does not say.
CpuSet allowed_cores() noexcept
{
    CpuSet set(CPU_ALLOC(most_cores));
    if (set != nullptr) {
        CPU_ZERO_S(CPU_ALLOC_SIZE(most_cores), set.get());
        if (sched_getaffinity(0, CPU_ALLOC_SIZE(most_cores), set.get()) != 0) {
            set.reset();
        }
    }
    return set;
}

} // namespace

int available_cores() noexcept
{
    const CpuSet set = allowed_cores();
    const int count = set == nullptr ? 0 : CPU_COUNT_S(CPU_ALLOC_SIZE(most_cores), set.get());
    return count > 0 ? count : 1;
}

std::uint64_t core_set() noexcept
{
    const CpuSet set = allowed_cores();
    const auto* bytes = reinterpret_cast<const char*>(set.get());
    return set == nullptr ? 0 : digest({bytes, CPU_ALLOC_SIZE(most_cores)});
}

int launched_neighbours() noexcept
{
    if (available_cores() < sysconf(_SC_NPROCESSORS_ONLN)) {
        return 1;
    }
    // Set by the launchers of Open MPI, of MPICH and Intel MPI, and of MVAPICH.
    for (const char* variable :
         {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE"}) {
        if (const char* value = std::getenv(variable); value != nullptr) {
            const long ranks = std::strtol(value, nullptr, 10);
            if (ranks > 0 && ranks < most_cores) {
                return static_cast<int>(ranks);
            }
        }
    }
    return 1;
}

} // namespace sidelight::host::node
