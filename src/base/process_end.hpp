// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/shared_memory.hpp"

namespace sidelight {

/// Whether that process of this node has ended, whether or not somebody has waited for it. False
/// where that cannot be known. A number that is used again is a process that lives.
[[nodiscard]] bool has_ended(int process) noexcept;

/// When it was started, by the kernel's count; 0 where that cannot be known.
[[nodiscard]] std::uint64_t started_at(int process) noexcept;

/// The same of one that is known by more than its number: by when it was started, as it has read
/// that itself, and by a file that it keeps open as long as its program lets it.
[[nodiscard]] bool has_ended(const MemoryFileAddress& file, std::uint64_t started) noexcept;

} // namespace sidelight
