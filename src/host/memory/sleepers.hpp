// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/shared_memory.hpp"
#include "host/memory/span.hpp"

namespace sidelight::host::memory {

/// Wakes the threads of this process that sleep at a word of these pages (futex) since before they
/// became private: they are known to the kernel by the file and the offset then, and nobody else
/// wakes them by that name any more. They look at their word again. Where the kernel may interrupt
/// itself, a thread that was on its way to sleep when the pages were replaced, and still is when
/// all processors have done something else, is not found.
void wake_sleepers(Span pages, const File& file, std::uint64_t offset) noexcept;

} // namespace sidelight::host::memory
