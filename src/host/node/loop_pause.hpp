// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/clock.hpp"
#include "host/node/calm.hpp"
#include "host/node/core_demand.hpp"
#include "host/node/wait.hpp"

namespace sidelight::host::node {

/// How a thread gives its core away while it waits in a loop that is not ours: the host's progress
/// loop, which calls our hook each time round. What it waits for there is not known, nor that it
/// has come: both are the host's. So it goes on at full speed where nobody else computes on its
/// core; where somebody does, and the loop is calm, it sleeps, bounded, after each stretch. See
/// docs/design/hooks.md. One for each thread.
class LoopPause {
public:
    /// At the beginning of each call of the hook.
    void enter() noexcept
    {
        if (measures_) {
            outside_ += now() - left_;
        }
    }
    /// At its end; it has `moved` something or not. Must not hold the engine. Where it `may_sleep`
    /// it calls `poll` before it does.
    void leave(Waiter& waiter, bool moved, bool may_sleep, bool (*poll)(void* context) noexcept,
               void* context) noexcept
    {
        if (moved) {
            calm_.disturb();
        }
        if (++turns_ % turns_per_look == 0) {
            look(waiter, may_sleep, poll, context);
        }
        if (measures_) {
            left_ = now();
        }
    }

private:
    static constexpr unsigned turns_per_look = 16;

    void look(Waiter& waiter, bool may_sleep, bool (*poll)(void*) noexcept, void* context) noexcept;
    void nap(Waiter& waiter, bool (*poll)(void*) noexcept, void* context) noexcept;

    unsigned turns_ = 0;
    bool measures_ = false; ///< the turns until the next look
    Time outside_{};        ///< of the hook, in these turns
    Time left_{};           ///< when the last of them left the hook
    Time begin_{};          ///< of the stretch: nothing has moved since, nor has the thread slept
    int naps_ = 0;          ///< since something moved
    Calm calm_;
    CoreDemand demand_;
};

} // namespace sidelight::host::node
