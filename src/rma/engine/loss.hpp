// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/channel/acknowledgements.hpp"
#include "rma/channel/target.hpp"
#include "rma/epoch/kind_table.hpp"
#include "rma/operation/active_messages.hpp"

namespace sidelight::rma {

/// What becomes of a window when a member of it cannot be reached any more. See
/// docs/design/lost-peers.md. Guarded by the engine.
class Losses {
public:
    Losses(std::uint64_t window, const EpochSurroundings& with, Acknowledgements& acknowledgements,
           TargetSide& target_side, ActiveMessages& active) noexcept
        : window_(window),
          with_(with),
          acknowledgements_(acknowledgements),
          target_side_(target_side),
          active_(active)
    {}

    /// The fabric has lost a process. Members that have not been met are looked at when they are.
    void lose_peer(int peer) noexcept;

    /// Gives up all that waits for those lost since the last sweep. Answers whether there were any.
    bool give_up_lost() noexcept;

    /// The last act in a window that has lost a member: nobody waits for all to leave it, so who
    /// still works in there is told, as if this member were lost.
    void leave_broken() noexcept;

private:
    void pass_on(int rank) noexcept;
    void tell(int to, int rank) noexcept;

    std::uint64_t window_;
    const EpochSurroundings& with_;
    Acknowledgements& acknowledgements_;
    TargetSide& target_side_;
    ActiveMessages& active_;
};

} // namespace sidelight::rma
