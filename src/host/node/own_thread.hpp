// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <thread>

namespace sidelight::host::node {

/// What such a thread waits for in memory wakes it, unless the peer that writes it could not map
/// this process's doorbell.
inline constexpr std::chrono::milliseconds longest_deaf_sleep{100};
/// The same while something is left that nobody will tell it of.
inline constexpr std::chrono::milliseconds longest_busy_sleep{1};

/// What such a thread asks of its owner.
struct OwnThreadWork {
    static bool never() noexcept { return false; }

    /// Takes the engine, waits for it if it must, and says whether anything moved.
    bool (*sweep)() noexcept = nullptr;
    /// Whether the program has called since the last sweep, or since this was asked last.
    bool (*program_came)() noexcept = never;
    /// Whether something is left that a later sweep has to try again. If not, what is left after
    /// this ends the thread's sleep.
    bool (*has_more)() noexcept = never;
};

/// A thread of the library's own, which calls `run(context)`. It blocks the signals that are for
/// the program's own threads, all but its own faults, and its sleeps end within a microsecond of
/// their time. Not joinable where there can be no thread; the log says so, with `kind`.
[[nodiscard]] std::thread start_own_thread(const char* kind, void (*run)(void* context) noexcept,
                                           void* context) noexcept;

} // namespace sidelight::host::node
