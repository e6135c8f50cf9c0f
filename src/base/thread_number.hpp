// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>

namespace sidelight {

/// A small number of this thread's own, from 0 on in the order of the first calls. Numbers of
/// threads that have ended are not used again.
inline std::size_t thread_number() noexcept
{
    static std::atomic<std::size_t> next{0};
    thread_local const std::size_t own = next.fetch_add(1, std::memory_order_relaxed);
    return own;
}

} // namespace sidelight
