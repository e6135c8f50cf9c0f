// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "base/number_pool.hpp"

namespace sidelight {

/// How many threads have slots at a time.
inline constexpr std::size_t lock_slots = NumberPool::most;

/// Which slot of a lock is this thread's own: the lowest that no living thread has. A thread that
/// ends gives its slot back; who finds it then finds also what the thread did last. `lock_slots`
/// means that all are taken, or that the thread is at its very end: that one is nobody's own.
[[nodiscard]] std::size_t lock_slot_of_thread() noexcept;

} // namespace sidelight
