// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

#include "base/clock.hpp"
#include "host/node/recurring.hpp"

namespace sidelight::host::node {

/// How often a wait gives its core away before it sleeps, where ranks outnumber cores. That is
/// learnt: mostly the one waited for runs after some yields, without the system calls and the wake
/// of a sleep; but where the launcher has given each rank a scheduling group of its own, a yield
/// may find nobody, and each is time in which nobody else has the core.
///
/// Where somebody computes on the core, a rank or another program, one yield gives it away for a
/// whole slice, milliseconds, and an answer that comes meanwhile is not seen; who sleeps is woken
/// for it. So for a while after two such yields there are none. Threads: any; what they overwrite
/// of each other is only a guess.
class YieldBudget {
public:
    /// A yield to those that wait, too, is over long before.
    static constexpr Time slice = std::chrono::milliseconds(1);

    /// A yield has lasted from `begin` to `end`. Answers whether somebody had the core for a slice.
    bool lasted(Time begin, Time end) noexcept
    {
        const bool computing = end - begin >= slice;
        if (computing) {
            slices_.happened(end);
        }
        return computing;
    }
    /// Whether somebody has computed on the core lately.
    [[nodiscard]] bool is_computed_on(Time now) const noexcept { return slices_.goes_on(now); }

    static constexpr int least = 8;
    static constexpr int most = 64;
    /// One wait in so many tries `most`. Odd: programs wait in turns of two or four.
    static constexpr unsigned waits_per_trial = 17;

    /// Yields for the wait that begins.
    [[nodiscard]] int next() noexcept
    {
        const unsigned waits = waits_.load(relaxed) + 1;
        waits_.store(waits, relaxed);
        return waits % waits_per_trial == 0 ? most : worth_.load(relaxed);
    }

    /// A wait ended after so many.
    void found_after(int yields) noexcept
    {
        const int enough = std::clamp(2 * yields, least, most);
        if (enough > worth_.load(relaxed)) {
            worth_.store(enough, relaxed);
        }
    }

    /// A wait goes to sleep after so many.
    void found_nobody(int yields) noexcept
    {
        const int worth = worth_.load(relaxed);
        if (yields == worth) { // a trial that fails says nothing of fewer
            worth_.store(std::max(least, worth - (worth + 7) / 8), relaxed);
        }
    }

private:
    static constexpr std::memory_order relaxed = std::memory_order_relaxed;
    std::atomic<int> worth_{most / 2};
    std::atomic<unsigned> waits_{0};
    Recurring slices_;
};

} // namespace sidelight::host::node
