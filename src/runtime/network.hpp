// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/arming.hpp"
#include "runtime/waiting.hpp"

namespace sidelight::runtime {

/// The network of this process: opened with the first window that needs messages, closed when the
/// last window is gone.
class Network {
public:
    Network(Engine& engine, Waiting& waiting) noexcept : engine_(engine), waiting_(waiting) {}

    /// Messages can be sent from now on, if it answers true. Needs the engine. Throws
    /// std::bad_alloc.
    bool open();
    /// When the last window and the helpers are gone. Does nothing where none is open.
    void close() noexcept;

    /// Whether messages may come: the process's `messages`, for the fastest calls. Any thread.
    [[nodiscard]] static bool hears_messages() noexcept
    {
        return hears_messages_.load(std::memory_order_relaxed);
    }

private:
    static Arming arm(void* self) noexcept;
    void hear_messages(bool messages) noexcept;
    void part_from_peers() noexcept;

    static inline std::atomic<bool> hears_messages_{false};

    Engine& engine_;
    Waiting& waiting_;
    bool heard_ = false; ///< whether sleepers have been told of the network
};

} // namespace sidelight::runtime
