// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "rma/kinds.hpp"

/// The rules of early return, as those in rules.hpp: when a blocking MPI_Win_complete returns
/// although targets of its epoch are late, and what such an epoch holds back. See
/// docs/design/early-return.md. It holds back nothing else: nobody passes a fence before the target
/// of such an epoch, and that has ended its exposure when it arrives there.
namespace sidelight::rma::rules {

/// Whether so many bytes may be kept for an epoch whose call then returns: only where somebody
/// finishes it without a further call of the program, and never more than there is room for.
constexpr bool may_return_early(bool others_finish, std::size_t room, std::size_t needed) noexcept
{
    return others_finish && needed <= room;
}

/// Whether a call may return before an operation is performed, once its data are kept: what brings
/// data back writes to buffers that belong to the program again after the call, and an active
/// message may do so, too.
constexpr bool may_be_kept(bool brings_back, bool is_active) noexcept
{
    return !brings_back && !is_active;
}

/// Whether anything of an access may reach a target: the accesses to it whose calls had returned
/// early when it became active are over there up to that number. Where the program lets accesses
/// overlap it may at once.
constexpr bool may_follow_early(std::uint64_t early, std::uint64_t over,
                                const Reorder& reorder) noexcept
{
    return over >= early || reorder.access_after_access;
}

/// Whether a lock, or a lock_all, may be asked for. `returned`: calls of the process, on whatever
/// window, that had returned early when the lock was opened; `oldest`: the first of them whose
/// epoch is not complete. Who holds a lock and then waits for a late target could keep that target
/// from coming. Without early return the program would not have got as far as the lock.
constexpr bool may_lock_after_early(std::uint64_t returned, std::uint64_t oldest) noexcept
{
    return oldest > returned;
}

} // namespace sidelight::rma::rules
