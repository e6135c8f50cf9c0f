// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <mutex>
#include <span>

#include "base/settings.hpp"
#include "host/node/interrupt_thread.hpp"
#include "host/node/progress_thread.hpp"
#include "runtime/waiting.hpp"

namespace sidelight::runtime {

/// What moves the engine on while the program is in no call of ours: a hook in the host's progress
/// loop, and a thread where one is wanted: a progress thread, or an interrupt thread. See
/// docs/design/progress.md and interest.md.
class Helpers {
public:
    Helpers(Engine& engine, Waiting& waiting) noexcept : engine_(engine), waiting_(waiting) {}

    /// Hooks the sweep into the host's waits for requests of ours. Before the first request.
    static void watch_requests() noexcept;
    /// Starts what has not been started. Before the engine makes a window, when the host has
    /// progressed and the network that the window needs is open; `wish`: of that window. Without
    /// one, what was wished for before is started again. Without the engine.
    void start(Progress wish = Progress::automatic) noexcept;
    /// The thread ends and is started again, as `start` says. Must not hold the engine.
    void restart() noexcept;
    /// Ends the thread. Does nothing if there is none. Must not hold the engine.
    void stop_thread() noexcept;

    /// The mode of this process, also before there is a runtime. The one that is set holds from the
    /// next `start` on.
    [[nodiscard]] static Progress mode() noexcept
    {
        const int chosen = chosen_.load(std::memory_order_relaxed);
        return chosen == not_chosen ? settings().progress : static_cast<Progress>(chosen);
    }
    static void choose_mode(Progress mode) noexcept { chosen_.store(static_cast<int>(mode)); }
    /// Ends what the mode does not want, and starts what it wants. By a thread of the program; no
    /// other may be in a call of ours, unless several are expected anyway. Without the engine.
    void apply_mode() noexcept;

    /// A nonblocking call has left something to be done. Where no call of the host's comes by, and
    /// the mode leaves that open, a progress thread does it from now on: the program may wait for
    /// it in such a call. By a thread of the program, as for `apply_mode`.
    void serve_pending() noexcept
    {
        if (!hooked_.load(std::memory_order_relaxed) && !pending_.load(std::memory_order_relaxed))
            [[unlikely]] {
            begin_for_pending();
        }
    }

    /// What the interrupt thread has done. There need be none.
    [[nodiscard]] const host::node::InterruptCounts& counts() const noexcept
    {
        return interrupt_thread_.counts();
    }
    /// Whether there has been an interrupt thread in this process.
    [[nodiscard]] bool has_interrupted() const noexcept
    {
        return interrupted_.load(std::memory_order_relaxed);
    }
    /// The counts as a line of text.
    void print_counts(std::span<char> line) const noexcept;
    /// MPI_Finalize begins. Where the hook has to end before the program's callbacks a thread is in
    /// its place, until `stop_thread`. Without the engine.
    void begin_finalize() noexcept;
    /// It has ended; `goes_on`: windows of sessions live on.
    void end_finalize(bool goes_on) noexcept;
    /// No window is left that has asked for a thread.
    void forget_wish() noexcept { wish_ = Progress::automatic; }
    /// Takes the hook out. Before the host is finalised.
    static void stop_hook() noexcept;

private:
    static bool sweep_on_thread() noexcept;
    static bool program_came() noexcept;
    static bool has_more() noexcept;
    void begin_for_pending() noexcept;
    [[nodiscard]] Progress wanted() const noexcept;
    [[nodiscard]] bool wants_thread(Progress mode) noexcept;
    void tell_finisher() noexcept;
    void begin_interrupts() noexcept;
    void end_thread() noexcept;
    void start_what_is_not(Progress wish) noexcept;
    void apply(Progress mode) noexcept;

    Engine& engine_;
    Waiting& waiting_;
    host::node::ProgressThread thread_;
    host::node::InterruptThread interrupt_thread_;
    static constexpr int not_chosen = -1;
    static inline std::atomic<int> chosen_{not_chosen};
    std::atomic<bool> hooked_{false};
    std::atomic<bool> may_hook_{true};
    std::atomic<bool> pending_{false};     ///< something was left to be done without a hook
    std::atomic<bool> interrupted_{false}; ///< there was such a thread; relaxed: only shown
    Progress wish_ = Progress::automatic;  ///< the last thread that a window has asked for
    std::mutex starting_;                  ///< which several windows may ask for at once
};

} // namespace sidelight::runtime
