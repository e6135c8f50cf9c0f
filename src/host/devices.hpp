// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

/// Devices that may read and write memory of a process by themselves: graphics processors, network
/// adapters. Memory that such a device knows must stay where it is, and nobody tells which it is.
namespace sidelight::host {

/// Whether this process has memory pinned for a device, or anything open that may be one.
[[nodiscard]] bool has_unknown_device() noexcept;

/// Whether what a process has open, as /proc/self/fd says it, may be one: every device and object
/// of the kernel that is not known to be harmless. io_uring is one.
[[nodiscard]] bool is_unknown_device(std::string_view target) noexcept;

} // namespace sidelight::host
