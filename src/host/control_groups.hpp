// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace sidelight::host {

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
