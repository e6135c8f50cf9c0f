// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/active/call.hpp"
#include "rma/active/exclusion.hpp"
#include "rma/active/message.hpp"
#include "rma/attention.hpp"
#include "rma/channel/active_target.hpp"
#include "rma/channel/life.hpp"
#include "rma/region/region_name.hpp"

namespace sidelight::rma {

/// Active messages of this process on memory that is mapped here, its own too: they wait for their
/// turn, and are run by a thread of this process, on its own core. Guarded by the engine; handlers
/// run without it.
class ActiveHere {
public:
    ActiveHere(OperationLife& life, Exclusion& exclusion, const ActiveHandlers& handlers,
               Channels& channels, Attention& attention) noexcept
        : life_(life),
          exclusion_(exclusion),
          handlers_(handlers),
          channels_(channels),
          attention_(attention)
    {}
    void set_limits(const ActiveLimits& limits) noexcept { limits_ = limits; }

    /// Its turn has come; `memory`: where what it is about is mapped, `room`: as much as a segment
    /// may take. It may be gone on return.
    void launch(Op& op, std::byte* memory, std::size_t room) noexcept;

    /// One that may be run now, until `finish`; null: none.
    [[nodiscard]] ActiveMessage* take() noexcept;
    void finish(ActiveMessage& message) noexcept;
    /// All of it, by the thread that has taken it. Without the engine.
    void run(ActiveMessage& message, ActiveCaller& caller) const noexcept;

    /// The region is released: what waits to run there ends.
    void refuse_region(RegionName name) noexcept;
    /// Whether a handler is in that region.
    [[nodiscard]] bool runs_in(RegionName name) const noexcept;
    /// The member is lost: what waits for it ends.
    void abandon(int rank) noexcept;

private:
    using Waiting = List<ActiveMessage, &ActiveMessage::in_list>;
    [[nodiscard]] bool has_turn(const ActiveMessage& message) const noexcept;
    void end(ActiveMessage& message, Status status) noexcept;
    template <class Wanted>
    void end_if(Wanted wanted, Status status) noexcept;

    OperationLife& life_;
    Exclusion& exclusion_;
    const ActiveHandlers& handlers_;
    Channels& channels_;
    Attention& attention_;
    ActiveLimits limits_{};
    Waiting waiting_; ///< in order of issue, with those that run
};

} // namespace sidelight::rma
