// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace sidelight::host {

using Text = std::unique_ptr<FILE, int (*)(FILE*)>;

/// Null: there is no such file.
[[nodiscard]] inline Text open_text(const char* path) noexcept
{
    return {std::fopen(path, "re"), std::fclose};
}

/// Where a process's control groups are.
struct ControlGroups {
    const char* groups = "/proc/self/cgroup"; ///< the file that names them
    std::string root = "/sys/fs/cgroup";      ///< where they are mounted, of both versions
};

/// The folders of the groups that limit the process by that controller, and of those above them, as
/// far as they can be seen; some more than once, and some that are not there. Throws
/// std::bad_alloc.
[[nodiscard]] std::vector<std::string> limiting_groups(const ControlGroups& where,
                                                       const std::string& controller);

} // namespace sidelight::host
