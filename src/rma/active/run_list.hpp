// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

namespace sidelight::rma {

class Window;
struct ActiveIncoming;
struct ActiveMessage;

/// An active message, or a piece of one, whose handler has returned and which is not ended: the
/// thread that ran it could not have the engine.
struct ActiveRun {
    Window* window = nullptr;
    ActiveMessage* here = nullptr;      ///< see ActiveJob
    ActiveIncoming* incoming = nullptr; ///< likewise
    ActiveRun* next = nullptr;
};

/// Those, left by any thread without the engine for whoever has it next. Each stays where it is
/// until it is taken.
class ActiveRuns {
public:
    void push(ActiveRun& run) noexcept
    {
        run.next = first_.load(std::memory_order_relaxed);
        while (!first_.compare_exchange_weak(run.next, &run, std::memory_order_release,
                                             std::memory_order_relaxed)) {
        }
    }
    [[nodiscard]] bool any() const noexcept
    {
        return first_.load(std::memory_order_relaxed) != nullptr;
    }
    [[nodiscard]] ActiveRun* take_all() noexcept
    {
        return first_.exchange(nullptr, std::memory_order_acquire);
    }

private:
    std::atomic<ActiveRun*> first_{nullptr}; ///< release in push pairs with acquire in take_all
};

} // namespace sidelight::rma
