// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace sidelight {

/// How many threads have numbers at a time.
inline constexpr std::size_t thread_numbers = 64;

/// A small number of this thread's own, the lowest that no living thread has. A thread that ends
/// gives its number back; who finds it then finds also what the thread did last. `thread_numbers`
/// means that all are taken, or that the thread is at its very end: that one is nobody's own.
[[nodiscard]] std::size_t thread_number() noexcept;

} // namespace sidelight
