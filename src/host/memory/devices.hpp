// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>

/// Devices that read and write memory of a process by themselves: graphics processors, network
/// adapters. Memory that such a device knows must stay where it is, and nobody tells which it is.
namespace sidelight::host::memory {

/// Whether this process has one open. Costs a look at each of its descriptors where the system has
/// such devices, else nothing.
[[nodiscard]] bool has_device_open() noexcept;

/// Whether it has a file open whose path begins with one of these.
[[nodiscard]] bool has_open(std::span<const std::string_view> paths) noexcept;

} // namespace sidelight::host::memory
