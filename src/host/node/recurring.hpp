// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>

#include "base/clock.hpp"

namespace sidelight::host::node {

/// Whether somebody computes on a core, by how often others have had it: once may be the system, or
/// another rank that has come by; twice within a short time is taken to go on for a while. Threads:
/// any; what they overwrite of each other is only a guess.
class Recurring {
public:
    /// Two are no further apart where somebody computes on.
    static constexpr Time most_apart = std::chrono::milliseconds(40);
    /// What was seen counts for so long. Then it has to happen twice again.
    static constexpr Time memory = std::chrono::milliseconds(200);

    void happened(Time now) noexcept
    {
        const Time::rep before = latest_.exchange(now.count(), relaxed);
        if (now.count() - before <= most_apart.count()) {
            until_.store((now + memory).count(), relaxed);
        }
    }
    [[nodiscard]] bool goes_on(Time now) const noexcept
    {
        return now.count() < until_.load(relaxed);
    }

private:
    static constexpr std::memory_order relaxed = std::memory_order_relaxed;
    std::atomic<Time::rep> latest_{-most_apart.count()};
    std::atomic<Time::rep> until_{0};
};

} // namespace sidelight::host::node
