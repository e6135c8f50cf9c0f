// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mutex>

#include "host/node/progress_thread.hpp"
#include "runtime/waiting.hpp"

namespace sidelight::runtime {

/// What moves the engine on while the program is in no call of ours: a hook in the host's progress
/// loop, and a progress thread where one is wanted. See docs/design/progress.md.
class Helpers {
public:
    Helpers(Engine& engine, Waiting& waiting) noexcept : engine_(engine), waiting_(waiting) {}

    /// Hooks the sweep into the host's waits for requests of ours. Before the first request.
    static void watch_requests() noexcept;
    /// Starts what has not been started. Before the engine makes a window, when the host has
    /// progressed and the network that the window needs is open. Without the engine.
    void start() noexcept;
    /// Ends the thread. Does nothing if there is none. Must not hold the engine.
    void stop_thread() noexcept { thread_.stop(); }
    /// Takes the hook out. Before the host is finalised.
    static void stop_hook() noexcept;

private:
    static bool sweep_on_thread() noexcept;
    static bool program_came() noexcept;
    [[nodiscard]] bool wants_thread(bool hooked) noexcept;

    Engine& engine_;
    Waiting& waiting_;
    host::node::ProgressThread thread_;
    std::mutex starting_; ///< which several windows may ask for at once
};

} // namespace sidelight::runtime
