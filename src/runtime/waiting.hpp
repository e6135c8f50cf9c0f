// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/doorbell.hpp"
#include "host/mpi/progress.hpp"
#include "host/node/loop_pause.hpp"
#include "host/node/wait.hpp"
#include "rma/engine/process.hpp"
#include "rma/request.hpp"
#include "runtime/active_runner.hpp"
#include "runtime/attendance.hpp"

namespace sidelight::runtime {

/// A request on the stack of a blocking call.
struct BlockingRequest : rma::Request {
    host::node::Waiter* waiter = nullptr; ///< of who waits for it, where others may complete it
};

/// How calls wait: they sweep, and give their core away meanwhile. None of it may hold the engine.
class Waiting {
public:
    /// The engine must outlive it.
    explicit Waiting(Engine& engine) noexcept : engine_(engine) {}

    [[nodiscard]] host::node::Waiter& waiter() noexcept { return waiter_; }

    /// How often a call polls for its peers by itself before it waits: a microsecond or two, hardly
    /// at all where ranks outnumber cores.
    [[nodiscard]] static int polls() noexcept { return polls_; }
    /// How often it looks, before that, at the memory alone that neighbours write: longer messages
    /// are not seen meanwhile.
    [[nodiscard]] static int polls_of_memory() noexcept { return polls_ / 4; }
    /// There are that many ranks on this process's cores. The largest number counts.
    void learn_neighbours(int ranks) noexcept;
    /// Whether a look for the next message is worth while at once. Where ranks share cores its
    /// sender may need this one. Holds the engine.
    [[nodiscard]] bool messages_are_close() noexcept
    {
        return !waiter_.crowded() && engine_.fabric().is_close();
    }

    /// Sweeps once. What is held back for others to join it leaves, or stays mostly.
    void sweep(rma::Process::Held held = rma::Process::Held::leaves) noexcept;
    /// Until it has heard of everything that had come before the call.
    void sweep_for_all() noexcept;
    /// Until `request` is complete.
    void wait(BlockingRequest& request) noexcept;
    /// The same for a few microseconds at most, as a call that is about to wait in the host.
    /// Answers whether the condition holds.
    template <class Condition>
    bool briefly(Condition holds) noexcept
    {
        constexpr int looks_per_host_poll = 32;
        for (int looks = 1; looks <= polls(); ++looks) {
            {
                const EngineToken token(engine_);
                if (!holds()) {
                    engine_.process().progress();
                }
                if (holds()) {
                    return true;
                }
            }
            if (looks % looks_per_host_poll == 0) {
                host::mpi::poll_host();
            }
        }
        return false;
    }
    /// Until the condition holds, which is asked for with the engine. `meeting`: as for
    /// Waiter::wait.
    template <class Condition>
    void until(Condition holds, Doorbell* meeting = nullptr) noexcept
    {
        struct Context {
            Engine& engine;
            host::node::Waiter& waiter;
            Condition& holds;
        } context{engine_, waiter_, holds};
        const Attendance attendance(engine_);
        waiter_.wait(
            [](void* of) noexcept {
                auto& [engine, waiter, condition] = *static_cast<Context*>(of);
                bool done = false;
                {
                    const EngineToken token(engine);
                    if (!condition()) {
                        engine.process().progress();
                    }
                    done = condition();
                }
                if (!done && engine.process().has_active()) {
                    waiter.tell_long_sleeper(); // a handler may take long
                }
                if (done || !run_active<EngineToken>(engine)) {
                    return done;
                }
                const EngineToken token(engine);
                return condition();
            },
            &context, meeting);
    }
    /// One step of a wait that the host makes by asking again and again: see Waiter::pause.
    void pause(bool (*host_sweep)() noexcept, bool moved) noexcept;
    /// At the end of a sweep that the host's progress loop has called.
    void pause_in_loop(host::node::LoopPause& loop, bool (*host_sweep)() noexcept,
                       bool moved) noexcept;
    /// After something that another thread may wait for has completed.
    void rouse() noexcept
    {
        if (Engine::threaded()) {
            waiter_.rouse();
        }
    }

private:
    static inline int polls_ = 100;

    Engine& engine_;
    host::node::Waiter waiter_{engine_.fabric().bell()};
};

} // namespace sidelight::runtime
