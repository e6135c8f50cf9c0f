// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/devices.hpp"

#include <algorithm>
#include <array>

#include <dirent.h>
#include <unistd.h>

namespace sidelight::host::memory {
namespace {

constexpr std::array<std::string_view, 8> devices{
    "/dev/nvidia", "/dev/kfd", "/dev/dri/",   "/dev/infiniband/",
    "/dev/hfi1",   "/dev/cxi", "/dev/accel/", "/dev/dsa/",
};

/// One of each kind that is there wherever its driver is.
bool system_has_devices() noexcept
{
    constexpr std::array there{"/dev/nvidiactl", "/dev/kfd",  "/dev/dri",   "/dev/infiniband",
                               "/dev/hfi1_0",    "/dev/cxi0", "/dev/accel", "/dev/dsa"};
    return std::any_of(there.begin(), there.end(),
                       [](const char* path) { return access(path, F_OK) == 0; });
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
    return possible && has_open(devices);
}

} // namespace sidelight::host::memory
