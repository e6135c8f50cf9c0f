// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <thread>

namespace sidelight::host::node {

/// What such a thread waits for in memory wakes it, unless the peer that writes it could not map
/// this process's doorbell.
inline constexpr std::chrono::milliseconds longest_deaf_sleep{100};

/// A thread of the library's own, which calls `run(context)`. It blocks the signals that are for
/// the program's own threads, all but its own faults, and its sleeps end within a microsecond of
/// their time. Not joinable where there can be no thread; the log says so, with `kind`.
[[nodiscard]] std::thread start_own_thread(const char* kind, void (*run)(void* context) noexcept,
                                           void* context) noexcept;

} // namespace sidelight::host::node
