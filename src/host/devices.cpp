// SPDX-License-Identifier: BSD-3-Clause
#include "host/devices.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>

#include <dirent.h>
#include <unistd.h>

#include "base/text_file.hpp"

namespace sidelight::host {
namespace {

/// Whether devices may access memory of this process, as far as the kernel counts that.
bool has_pinned_memory() noexcept
{
    const TextFile text = open_text("/proc/self/status");
    std::array<char, 256> line{};
    std::uint64_t pinned = 0;
    while (text != nullptr && std::fgets(line.data(), line.size(), text.get()) != nullptr) {
        if (std::sscanf(line.data(), "VmPin: %lu", &pinned) == 1) {
            return pinned != 0;
        }
    }
    return true; // nobody knows
}

bool has_open_device() noexcept
{
    const std::unique_ptr<DIR, int (*)(DIR*)> descriptors(opendir("/proc/self/fd"), closedir);
    if (descriptors == nullptr) {
        return true; // nobody knows
    }
    while (const dirent* entry = readdir(descriptors.get())) { // NOLINT: nobody else has it
        std::array<char, 128> target{};
        const ssize_t bytes =
            readlinkat(dirfd(descriptors.get()), static_cast<const char*>(entry->d_name),
                       target.data(), target.size());
        if (bytes > 0 && is_unknown_device({target.data(), static_cast<std::size_t>(bytes)})) {
            return true;
        }
    }
    return false;
}

} // namespace

bool is_unknown_device(std::string_view target) noexcept
{
    constexpr std::string_view kernel_object = "anon_inode:";
    constexpr std::array<std::string_view, 17> harmless{
        "/dev/null",   "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty",
        "/dev/pts/",   "/dev/ptmx", "/dev/shm/", "/dev/mqueue", "/dev/console", "/dev/hugepages",
        "[eventpoll]", "[eventfd",  "[timerfd]", "[signalfd]",  "inotify",
    };
    if (target.starts_with(kernel_object)) {
        target.remove_prefix(kernel_object.size());
    } else if (!target.starts_with("/dev/")) {
        return false;
    }
    return std::none_of(harmless.begin(), harmless.end(),
                        [&](std::string_view known) { return target.starts_with(known); });
}

bool has_unknown_device() noexcept { return has_pinned_memory() || has_open_device(); }

} // namespace sidelight::host
