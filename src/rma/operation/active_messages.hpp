// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/channel/active_origin.hpp"
#include "rma/operation/active_here.hpp"

namespace sidelight::rma {

/// All that a window has for active messages: what is registered, what keeps handlers apart, and
/// those who send, serve and run them. Guarded by the engine; handlers run without it.
struct ActiveMessages {
    ActiveMessages(Channels& channels, OperationLife& life, OwnMemory& memory, Attention& attention,
                   ActiveBlock& own, int rank, bool only_at_target) noexcept
        : origin(channels, life),
          target({.channels = channels,
                  .memory = memory,
                  .exclusion = exclusion,
                  .handlers = handlers,
                  .attention = attention,
                  .own = own,
                  .rank = rank}),
          here(life, exclusion, handlers, channels, attention),
          at_target(only_at_target)
    {}
    void begin(const ActiveLimits& limits) noexcept
    {
        origin.set_unit(limits.unit);
        target.set_room(limits.internal_bytes);
        here.set_limits(limits);
    }

    /// The member is lost: what goes to it, or has come from it, ends. Before its flights are
    /// abandoned.
    void abandon(Channel& channel) noexcept
    {
        ActiveOrigin::abandon(channel);
        here.abandon(channel.rank);
        target.abandon(channel);
    }

    ActiveHandlers handlers;
    Exclusion exclusion; ///< of this member, as it sees its node
    ActiveOrigin origin;
    ActiveTarget target;
    ActiveHere here;
    bool here_first = false; ///< of those that may run, before those of others
    /// Those towards others all go by messages: the program wants it, or the window is dynamic, and
    /// what is attached may be mapped for one and not for the next, which must keep their order.
    const bool at_target;
};

} // namespace sidelight::rma
