// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "runtime/waiting.hpp"
#include "runtime/window_object.hpp"

namespace sidelight::runtime {

/// Locks that blocking calls take on several windows are taken in the order of the calls, though
/// such a call does not wait for its own: the next one waits for it. Else processes that all lock
/// in one order could wait for one another in a circle. Not used in programs with threads, where a
/// blocking call waits for its lock.
class LockOrder {
public:
    LockOrder(Engine& engine, Waiting& waiting) noexcept : engine_(engine), waiting_(waiting) {}

    /// After a blocking call has asked for a lock. Holds the engine.
    static void remember(WindowObject& object) noexcept
    {
        if (!Engine::program_has_threads() && object.window->waits_for_lock()) {
            ungranted_ = object.body->original;
        }
    }
    /// Whether a blocking call that asks for a lock has to `settle` first.
    [[nodiscard]] static bool is_open() noexcept { return ungranted_ != nullptr; }
    /// Waits for the lock that was asked for last. Must not hold the engine.
    void settle() noexcept
    {
        if (is_open()) [[unlikely]] {
            await(*std::exchange(ungranted_, nullptr));
        }
    }

private:
    void await(WindowObject& object) noexcept;

    static inline WindowObject* ungranted_ = nullptr; ///< of the program's only thread

    Engine& engine_;
    Waiting& waiting_;
};

} // namespace sidelight::runtime
