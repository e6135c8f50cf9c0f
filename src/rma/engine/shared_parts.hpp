// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include "fabric/peer_memory.hpp"
#include "rma/active/run_list.hpp"
#include "rma/channel/carrier.hpp"
#include "rma/channel/credit.hpp"
#include "rma/channel/farewells.hpp"
#include "rma/engine/window.hpp"
#include "rma/epoch/early_return.hpp"
#include "rma/epoch/lock_server.hpp"
#include "rma/operation/operations.hpp"

namespace sidelight::rma {

/// The windows of a process that need progress. Guarded by the engine, but for `any`.
class BusyWindows {
public:
    void note(Window& window, bool busy) noexcept
    {
        if (busy) {
            windows_.push(&window);
        } else {
            windows_.remove(&window);
        }
        any_.store(!windows_.empty(), std::memory_order_relaxed);
    }
    /// Not while anybody goes through them.
    void put_last(Window& window) noexcept
    {
        windows_.remove(&window);
        windows_.push(&window);
    }
    [[nodiscard]] Window* front() const noexcept { return windows_.front(); }
    [[nodiscard]] Window* after(const Window& window) const noexcept
    {
        return decltype(windows_)::after(window);
    }
    /// Any thread, also without the engine.
    [[nodiscard]] bool any() const noexcept { return any_.load(std::memory_order_relaxed); }

private:
    List<Window, &Window::in_busy> windows_;
    std::atomic<bool> any_{false};
};

/// What the windows of a process share. Memory that one has used another can.
struct SharedParts {
    fabric::PeerMemory& memory;
    Carrier carrier;
    Farewells farewells{carrier};
    OperationPools operations{};
    EarlyEpochs early{operations.room};
    Pool<Epoch> epochs{};
    Pool<Flush> flushes{};
    Pool<Offer> offers{};
    Pool<LockWaiter> lock_waiters{};
    BusyWindows busy{};
    ActiveLimits active{};
    CreditLimits credit{};
    std::atomic<std::uint32_t> with_active{0}; ///< windows in which active messages wait
    ActiveRuns active_runs{};
    bool allows_rows = false;    ///< others' heavy barriers reach this process
    trace::Track latest_trace{}; ///< of the window that was made last

    /// A window has ended, and with it perhaps all that needed so much memory. Answers how many
    /// bytes are freed.
    std::size_t shrink() noexcept
    {
        return operations.ops.shrink() + operations.remote_accesses.shrink() +
               operations.messages.shrink() + epochs.shrink() + flushes.shrink() + offers.shrink() +
               lock_waiters.shrink();
    }
};

} // namespace sidelight::rma
