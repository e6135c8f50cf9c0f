// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// Which requests another thread should look after, and when it may. Pure functions.
namespace sidelight::messages::rules {

/// What a request asks of its host.
struct Demand {
    std::uint64_t bytes = 0;
    bool always = false;  ///< progress matters whatever its size: synchronous mode, collectives
    bool barring = false; ///< while it is live, the host must get no step
};

/// Small messages leave within the call that starts them, and arrive in memory of the host's own.
[[nodiscard]] constexpr bool is_large(const Demand& demand, std::uint64_t limit) noexcept
{
    return demand.always || demand.bytes > limit;
}

/// What the thread finds when it has slept.
struct Situation {
    unsigned live = 0;         ///< large requests that are not known to be complete
    unsigned live_barring = 0; ///< of these, those beside which no step may be given
    bool calls_back = false;   ///< the host may call functions of the program at any time
    bool wanted = true;        ///< the mode of progress is smart
};

/// Whether the thread may give the host a step while no thread of the program is in MPI. Functions
/// of the program run on its own threads alone: an operator may need a lock that a thread holds
/// which waits, in a call or to fork, for the end of the step; and what the host may poll, or call
/// when a datatype goes, may call MPI, and would itself wait there for the end of the step that it
/// runs in.
[[nodiscard]] constexpr bool may_step(const Situation& now) noexcept
{
    return now.wanted && now.live > 0 && !now.calls_back && now.live_barring == 0;
}

} // namespace sidelight::messages::rules
