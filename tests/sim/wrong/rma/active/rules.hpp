// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "rma/kinds.hpp"

// The rules of active messages, as in ../rules.hpp.
#define rules right_rules
#include "../src/rma/active/rules.hpp"
#undef rules

namespace sidelight::rma::rules {

using namespace right_rules;

enum class WrongActive {
    none,
    order_forgotten, ///< overlapping memory is nothing to the order
    all_share,       ///< messages that exclude one another run at once
    passes_waiting,  ///< one runs within its call though another whose order it keeps waits
    all_enter,       ///< one that runs within its call excludes nobody
    kept_by_dead,    ///< what a dead process holds keeps handlers out for ever
    leaves_beside,   ///< one leaves while another that has begun waits for room
    passes_ordered,  ///< one passes another whose order it keeps
    begins_at_once,  ///< one begins though nothing has room for its segments
    served_early,    ///< a reservation that fits is served before one that came earlier
    slivers,         ///< a reservation gets whatever gap has room for a segment
    unanswered,      ///< what was sent before a notice has run when that comes
    room_taken,      ///< the room of a lost origin's message is free while a handler is inside
};

inline WrongActive wrong_active = WrongActive::none;

inline bool active_keeps_order(ActiveOrder order, bool same_op, bool overlap) noexcept
{
    return wrong_active != WrongActive::order_forgotten &&
           right_rules::active_keeps_order(order, same_op, overlap);
}

inline bool active_may_share(bool one_concurrent, bool other_concurrent) noexcept
{
    return wrong_active == WrongActive::all_share ||
           right_rules::active_may_share(one_concurrent, other_concurrent);
}

inline bool active_may_run_directly(bool others_wait) noexcept
{
    return wrong_active == WrongActive::passes_waiting ||
           right_rules::active_may_run_directly(others_wait);
}

inline bool active_enters_shared(bool concurrent) noexcept
{
    return wrong_active == WrongActive::all_enter || right_rules::active_enters_shared(concurrent);
}

inline bool exclusion_is_taken(bool holder_has_ended) noexcept
{
    return wrong_active != WrongActive::kept_by_dead &&
           right_rules::exclusion_is_taken(holder_has_ended);
}

inline bool active_may_begin(bool fits_own_room, bool has_reservation) noexcept
{
    return wrong_active == WrongActive::begins_at_once ||
           right_rules::active_may_begin(fits_own_room, has_reservation);
}

inline bool active_may_leave_beside(bool other_begun) noexcept
{
    return wrong_active == WrongActive::leaves_beside ||
           right_rules::active_may_leave_beside(other_begun);
}

inline bool active_may_pass(bool earlier_begun, bool earlier_needs_reservation,
                            bool keeps_order) noexcept
{
    const bool forgets = wrong_active == WrongActive::passes_ordered;
    return right_rules::active_may_pass(earlier_begun, earlier_needs_reservation,
                                        keeps_order && !forgets);
}

inline bool reservation_is_served(bool first_in_line) noexcept
{
    return wrong_active == WrongActive::served_early ||
           right_rules::reservation_is_served(first_in_line);
}

inline std::uint64_t reservation_takes(std::uint64_t gap, std::uint64_t least, std::uint64_t most,
                                       std::uint64_t whole) noexcept
{
    if (wrong_active == WrongActive::slivers) {
        return gap < least ? 0 : std::min(gap, most);
    }
    return right_rules::reservation_takes(gap, least, most, whole);
}

inline bool active_room_is_free(bool over, bool handler_inside) noexcept
{
    return right_rules::active_room_is_free(over, handler_inside &&
                                                      wrong_active != WrongActive::room_taken);
}

inline bool active_is_answered() noexcept
{
    return wrong_active != WrongActive::unanswered && right_rules::active_is_answered();
}

} // namespace sidelight::rma::rules
