// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/interest.hpp"
#include "rma/kinds.hpp"
#include "rma/rules.hpp" // the wrong ones, of this directory: which one is wrong

// As rules.hpp.
#define rules right_rules
#include "../src/rma/interest_rules.hpp"
#undef rules

namespace sidelight::rma::rules {

using namespace right_rules;

inline bool acts_when_activated(EpochKind kind, bool recorded, bool closed,
                                bool has_arrived) noexcept
{
    return right_rules::acts_when_activated(
        kind, recorded, closed, has_arrived || wrong == Wrong::deferred_fence_forgotten);
}

inline bool holds_back_work(bool any_deferred_acts, bool closed, bool waits_for_lock) noexcept
{
    return wrong != Wrong::deferred_work_forgotten &&
           right_rules::holds_back_work(any_deferred_acts, closed, waits_for_lock);
}

inline bool grant_is_awaited(EpochKind kind, bool recorded, bool closed, bool holds_back) noexcept
{
    if (wrong == Wrong::grants_not_awaited && kind == EpochKind::access) {
        return false;
    }
    return right_rules::grant_is_awaited(
        kind, recorded, closed && wrong != Wrong::closed_locks_not_awaited, holds_back);
}

inline bool end_is_awaited(bool holds_back) noexcept
{
    return wrong != Wrong::ends_not_awaited && right_rules::end_is_awaited(holds_back);
}

inline bool barrier_is_carried(bool leads) noexcept
{
    return wrong != Wrong::barrier_not_carried && right_rules::barrier_is_carried(leads);
}

inline bool admitted_by_low_half(LockType type) noexcept
{
    return wrong != Wrong::readers_by_whole_sum && right_rules::admitted_by_low_half(type);
}

} // namespace sidelight::rma::rules
