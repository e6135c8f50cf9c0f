// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/devices.hpp"

#include <algorithm>
#include <array>

#include <dirent.h>
#include <unistd.h>

namespace sidelight::host::memory {
namespace {

/// Devices of one kind.
struct Kind {
    const char* there;       ///< what is there wherever the driver is
    std::string_view prefix; ///< of the paths of all of them
};

constexpr std::array kinds{
    Kind{"/dev/nvidiactl", "/dev/nvidia"}, Kind{"/dev/kfd", "/dev/kfd"},
    Kind{"/dev/dri", "/dev/dri/"},         Kind{"/dev/infiniband", "/dev/infiniband/"},
    Kind{"/dev/hfi1_0", "/dev/hfi1"},      Kind{"/dev/cxi0", "/dev/cxi"},
    Kind{"/dev/accel", "/dev/accel/"},     Kind{"/dev/dsa", "/dev/dsa/"},
};

bool system_has_devices() noexcept
{
    return std::any_of(kinds.begin(), kinds.end(),
                       [](const Kind& kind) { return access(kind.there, F_OK) == 0; });
}

} // namespace

bool has_open(std::span<const std::string_view> paths) noexcept
{
    DIR* descriptors = opendir("/proc/self/fd");
    if (descriptors == nullptr) {
        return true; // nobody knows
    }
    bool found = false;
    while (const dirent* entry = found ? nullptr : readdir(descriptors)) {
        std::array<char, 128> text{};
        const ssize_t bytes = readlinkat(
            dirfd(descriptors), static_cast<const char*>(entry->d_name), text.data(), text.size());
        const std::string_view path(text.data(),
                                    static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
        found = std::any_of(paths.begin(), paths.end(), [&](std::string_view wanted) {
            return path.substr(0, wanted.size()) == wanted;
        });
    }
    closedir(descriptors);
    return found;
}

bool has_device_open() noexcept
{
    static const bool possible = system_has_devices();
    if (!possible) {
        return false;
    }
    std::array<std::string_view, kinds.size()> prefixes;
    std::transform(kinds.begin(), kinds.end(), prefixes.begin(),
                   [](const Kind& kind) { return kind.prefix; });
    return has_open(prefixes);
}

} // namespace sidelight::host::memory
