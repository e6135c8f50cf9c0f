// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/interest.hpp"
#include "rma/kinds.hpp"

/// The rules of what calls a process while its program computes, as those in rules.hpp: what is an
/// event, and for which events there is recorded work. See docs/design/interest.md.
namespace sidelight::rma::rules {

/// What happens, by the bits that it has in the filter. Each says of whom and in which window, as
/// far as its bits tell windows and members apart.
enum class EventClass : std::uint8_t {
    grant,   ///< a member has opened an exposure for this one
    done,    ///< a member has finished an access to this one
    place,   ///< somebody has left a place in the lock queue of a member
    arrival, ///< all of the node have arrived at a barrier of the window, which has other nodes
    passage, ///< all members have
};

/// That a counter of a member has come to a number, or the queue of a lock to a sum. Members may
/// share a bit, but hardly ever a bit and a value.
constexpr Event event_of(EventClass kind, std::uint64_t window, int rank,
                         std::uint64_t number) noexcept
{
    constexpr unsigned first[] = {0, 6, 10, 16, 17, 19};
    const auto index = static_cast<unsigned>(kind);
    const unsigned width = first[index + 1] - first[index];
    std::uint64_t mixed = (window + static_cast<std::uint32_t>(rank) + 1) * 0x9e3779b97f4a7c15U;
    mixed ^= mixed >> 32; // both halves tell members apart
    return {.bits = Events{1} << (first[index] + static_cast<unsigned>(mixed % width)),
            .value = mixed + number,
            .any_value = false};
}

/// Whether an epoch does anything for others once it is activated: it posts, asks for a lock,
/// arrives at its barrier, performs what is recorded, or ends. An access does nothing but count.
constexpr bool acts_when_activated(EpochKind kind, bool recorded, bool closed,
                                   bool has_arrived) noexcept
{
    return recorded || closed ||
           (kind != EpochKind::access && !(kind == EpochKind::fence && has_arrived));
}

/// Whether an epoch keeps from its turn what would do something then: those that are deferred wait
/// for closed ones, and for locks that are not granted.
constexpr bool holds_back_work(bool any_deferred_acts, bool closed, bool waits_for_lock) noexcept
{
    return any_deferred_acts && (closed || waits_for_lock);
}

/// Whether there is work to do when a peer grants an epoch: what is recorded, the end that others
/// wait for, or what it holds back. An access tells its target of its end without a grant.
constexpr bool grant_is_awaited(EpochKind kind, bool recorded, bool closed,
                                bool holds_back) noexcept
{
    return recorded || holds_back || (closed && kind != EpochKind::access);
}

/// Whether a grant lets the member ask the next one: lock_all asks them in rank order.
constexpr bool grant_asks_on(EpochKind kind, bool no_check, bool all_are_asked) noexcept
{
    return kind == EpochKind::lock_all && !no_check && !all_are_asked;
}

/// Whether there is work to do when a closed epoch is over: else only its own program gains, and
/// that sees it in its next call.
constexpr bool end_is_awaited(bool holds_back) noexcept { return holds_back; }

/// Whether a barrier is carried on to other nodes by this member, and by nobody else on its node.
constexpr bool barrier_is_carried(bool leads) noexcept { return leads; }

/// Whether only the low half of the sum of departures counts for who holds a place, as it does in
/// lock_admits.
constexpr bool admitted_by_low_half(LockType type) noexcept { return type == LockType::shared; }

} // namespace sidelight::rma::rules
