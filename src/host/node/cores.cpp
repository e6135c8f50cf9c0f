// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/cores.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <new>
#include <numeric>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text_file.hpp"

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

/// A number, and one that may follow it in the same file; answers how many there are.
int read_numbers(const std::string& path, long& first, long& second) noexcept
{
    const TextFile text = open_text(path.c_str());
    return text != nullptr ? std::fscanf(text.get(), "%ld %ld", &first, &second) : 0;
}

/// By the names of both versions of control groups. INT_MAX: as many as there are.
int cores_of_group(const std::string& folder)
{
    long quota = -1; // none
    long period = 0;
    long nothing = 0;
    if (read_numbers(folder + "/cpu.max", quota, period) < 2) {
        read_numbers(folder + "/cpu.cfs_quota_us", quota, nothing);
        read_numbers(folder + "/cpu.cfs_period_us", period, nothing);
    }
    return quota > 0 && period > 0
               ? static_cast<int>(std::min<long>((quota - 1) / period + 1, INT_MAX))
               : INT_MAX;
}

/// Read once: it takes some opens, and hardly ever changes while a program runs.
const CoreQuota& own_quota() noexcept
{
    static const CoreQuota quota = []() noexcept {
        try {
            return core_quota({});
        } catch (const std::bad_alloc&) {
            return CoreQuota();
        }
    }();
    return quota;
}

} // namespace

CoreQuota core_quota(const ControlGroups& where)
{
    CoreQuota least;
    for (const std::string& folder : limiting_groups(where, "cpu")) {
        const int cores = cores_of_group(folder);
        struct stat status {};
        if (cores < least.cores && stat(folder.c_str(), &status) == 0) {
            least = {.cores = cores, .group = status.st_ino};
        }
    }
    return least;
}

int available_cores() noexcept { return std::clamp(AllowedCores().count(), 1, own_quota().cores); }

std::uint64_t core_set() noexcept
{
    const AllowedCores allowed;
    return own_quota().cores < allowed.count() ? own_quota().group : allowed.digest();
}

int launched_neighbours() noexcept
{
    const bool bound = AllowedCores().count() < sysconf(_SC_NPROCESSORS_ONLN);
    // Set by the launchers of Open MPI, of MPICH and Intel MPI, and of MVAPICH.
    for (const char* variable :
         {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE"}) {
        if (const char* value = std::getenv(variable); value != nullptr) {
            const long ranks = std::strtol(value, nullptr, 10);
            if (ranks > (bound ? own_quota().cores : 0) && ranks < static_cast<long>(most_cores)) {
                return static_cast<int>(ranks);
            }
        }
    }
    return 1;
}

} // namespace sidelight::host::node
