// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/cores.hpp"

#include <array>
#include <bit>
#include <cstdlib>
#include <numeric>

#include <sys/syscall.h>
#include <unistd.h>

#include "base/digest.hpp"

namespace sidelight::host::node {

namespace {

constexpr std::size_t most_cores = 8192;

/// The cores of this process, in as many bytes as the kernel has for them; none where it does not
/// say. The C library's call would fill up what is behind them.
class AllowedCores {
public:
    AllowedCores() noexcept
    {
        const long bytes = syscall(SYS_sched_getaffinity, 0, sizeof words_, words_.data());
        bytes_ = bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
    }
    [[nodiscard]] int count() const noexcept
    {
        return std::accumulate(
            words_.begin(), words_.begin() + bytes_ / sizeof words_[0], 0,
            [](int sum, unsigned long word) { return sum + std::popcount(word); });
    }
    [[nodiscard]] std::uint64_t digest() const noexcept
    {
        const auto* bytes = reinterpret_cast<const char*>(words_.data());
        return bytes_ == 0 ? 0 : sidelight::digest({bytes, bytes_});
    }

private:
    std::array<unsigned long, most_cores / (8 * sizeof(unsigned long))> words_{};
    std::size_t bytes_;
};

} // namespace

int available_cores() noexcept
{
    const int count = AllowedCores().count();
    return count > 0 ? count : 1;
}

std::uint64_t core_set() noexcept { return AllowedCores().digest(); }

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
            if (ranks > 0 && ranks < static_cast<long>(most_cores)) {
                return static_cast<int>(ranks);
            }
        }
    }
    return 1;
}

} // namespace sidelight::host::node
