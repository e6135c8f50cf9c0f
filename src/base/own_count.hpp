// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

namespace sidelight {

/// Adds to a count that the calling thread alone writes, and anybody may read: no atomic
/// instruction.
inline void add_own(std::atomic<std::uint64_t>& count, std::uint64_t more = 1) noexcept
{
    count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

} // namespace sidelight
