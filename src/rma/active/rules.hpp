// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "rma/kinds.hpp"

/// The rules of active messages (P5), pure functions as those in rma/rules.hpp.
namespace sidelight::rma::rules {

/// Whether a message runs behind an earlier one of the same origin, target and window: by default
/// it does where the target memory of both overlaps (P5, section IV.E.1).
constexpr bool active_keeps_order(ActiveOrder order, bool same_op, bool overlap) noexcept
{
    return overlap && (same_op ? order.same_op : order.diff_op);
}

/// Whether two messages at one target may run at the same time, each whole message being one: both
/// were issued in epochs that assert MPIX_MODE_CONCURRENT_AM.
constexpr bool active_may_share(bool one_concurrent, bool other_concurrent) noexcept
{
    return one_concurrent && other_concurrent;
}

/// Whether a message may run within its call, at the origin: none of that process, to whomever,
/// waits. One that waits may be one whose order it keeps, and only the long way looks.
constexpr bool active_may_run_directly(bool others_wait) noexcept { return !others_wait; }

/// Whether a handler enters beside others that are there, which its epoch asserts.
constexpr bool active_enters_shared(bool concurrent) noexcept { return concurrent; }

/// Whether what keeps a handler out is taken away: it is that of a process that has ended.
constexpr bool exclusion_is_taken(bool holder_has_ended) noexcept { return holder_has_ended; }

/// Whether a message may begin to leave, and so take its turn at the target: one that has begun
/// always has room for a segment, so it never waits for one that comes after it.
constexpr bool active_may_begin(bool fits_own_room, bool has_reservation) noexcept
{
    return fits_own_room || has_reservation;
}

/// Whether a message may leave while another one to the same target, which has passed it or which
/// it would pass, has begun and not left whole: that one has its turn first, and needs the room.
constexpr bool active_may_leave_beside(bool other_begun) noexcept { return !other_begun; }

/// Whether a message may leave before an earlier one to the same target that has not left whole:
/// not if that has begun, since it might then wait for room which this one takes.
constexpr bool active_may_pass(bool earlier_begun, bool earlier_needs_reservation,
                               bool keeps_order) noexcept
{
    return !earlier_begun && earlier_needs_reservation && !keeps_order;
}

/// Whether it is of use that a message leaves before an earlier one: the target would soon have
/// nothing to run. What passes has no place behind an earlier message any more, where it would
/// cost no waiting; and it takes room that others then have to ask for.
constexpr bool active_pass_is_of_use(std::uint32_t pieces_under_way) noexcept
{
    return pieces_under_way <= 3;
}

/// Whether room in the attached buffer is handed out: first come, first served.
constexpr bool reservation_is_served(bool first_in_line) noexcept { return first_in_line; }

/// How much of a gap in the attached buffer a reservation gets; 0: it waits for a larger one.
/// `most` is what two pieces take. A sliver would be the message's for good: it would go on in the
/// smallest pieces though room is about to come back. So it gets a piece at least, or half of the
/// `whole` buffer where that is less, and in any case room for a segment.
constexpr std::uint64_t reservation_takes(std::uint64_t gap, std::uint64_t least,
                                          std::uint64_t most, std::uint64_t whole) noexcept
{
    const std::uint64_t enough = std::max(least, std::min(most, whole) / 2);
    return gap < enough ? 0 : std::min(gap, most);
}

/// Whether the room of a message may be used by others: nothing of it is in there any more, even if
/// its origin is lost.
constexpr bool active_room_is_free(bool over, bool handler_inside) noexcept
{
    return over && !handler_inside;
}

/// Whether an answer waits for the next handler, to leave with that one's answer: that one is of
/// the same origin and was short when it was called last, and no answer waits for many.
constexpr bool active_answer_may_wait(bool same_origin, bool next_is_short,
                                      bool others_wait_long) noexcept
{
    return same_origin && next_is_short && !others_wait_long;
}

/// Whether an operation that is performed later than it comes holds back the notices behind it. A
/// rule so that a wrong one can say no.
constexpr bool active_is_answered() noexcept { return true; }

} // namespace sidelight::rma::rules
