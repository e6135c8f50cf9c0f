// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

#include "base/clock.hpp"
#include "host/node/recurring.hpp"

namespace sidelight::host::node {

/// What the kernel has counted for a thread until some moment.
struct CoreUse {
    Time now{};         ///< of the monotonic clock
    Time used{};        ///< on a core
    long slept = 0;     ///< times that it gave its core up to sleep
    long displaced = 0; ///< times that others got its core while it would have gone on
};

/// Of the calling thread. Two system calls.
[[nodiscard]] CoreUse core_use(Time now) noexcept;

/// Whether others compute on the core of a thread that is not asleep: what it spins away there is
/// lost to them, and costs it the core when it has something to do. Looks at what it has lost, not
/// at how often: each core loses some microseconds a second to the system. Of one thread.
class CoreDemand {
public:
    /// Between two looks, each two system calls.
    static constexpr Time between_looks = std::chrono::milliseconds(1);
    /// Not more than a slice of who computes; more than what the system and a launcher that passes
    /// on what the program prints take at one time.
    static constexpr Time least_loss = std::chrono::milliseconds(2);
    static constexpr int least_share = 4; ///< one part in so many of the time is lost

    [[nodiscard]] bool is_due(Time now) const noexcept { return now - last_.now >= between_looks; }
    /// When a look is due. A thread that has slept since the last one cannot tell what it lost.
    void look(const CoreUse& use) noexcept
    {
        const Time time = use.now - last_.now;
        const Time lost = time - (use.used - last_.used);
        if (use.slept == last_.slept && use.displaced != last_.displaced && lost >= least_loss &&
            lost >= time / least_share) {
            losses_.happened(use.now);
        }
        last_ = use;
    }
    /// Two losses are seen within some ten milliseconds of spinning.
    [[nodiscard]] bool is_wanted(Time now) const noexcept { return losses_.goes_on(now); }

private:
    CoreUse last_;
    Recurring losses_;
};

} // namespace sidelight::host::node
