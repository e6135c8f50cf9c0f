// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// The rules of offers, as those in rules.hpp: what a process that waits may do for one that
/// computes. See docs/design/offers.md.
namespace sidelight::rma::rules {

/// What has become of an offer. With what it is and its number it is one word, which all sides
/// change by compare-and-swap.
enum class OfferState : std::uint8_t {
    none,      ///< nothing is offered, or it is the origin's again
    offered,   ///< whoever comes first performs it
    taken,     ///< another process is performing it: nobody else may
    performed, ///< and has done so
};

/// The part of an epoch that is offered, and what its number is.
enum class OfferKind : std::uint8_t {
    access,         ///< towards one target; of the access
    fence,          ///< all of it; of the barrier that grants it
    shared_lock,    ///< the sum of the places before its own
    exclusive_lock, ///< likewise
};

/// Whether an epoch is offered: its closing call has returned before it was complete, what is
/// recorded is all that it needs, and nobody looks after it meanwhile in this process.
constexpr bool may_offer(bool call_has_returned, bool others_finish) noexcept
{
    return call_has_returned && !others_finish;
}

/// Whether an access is the next one of its origin at its target, when so many are done: only that
/// one is offered, so that what both sides count stays in order.
constexpr bool offer_is_in_turn(std::uint64_t number, std::uint64_t done) noexcept
{
    return number == done + 1;
}

/// Whether a target that waits for its exposure of one number may take the access of another, when
/// so many accesses of its origin are done: the next one, and none whose exposure may not be open
/// yet. The origin may have gone on meanwhile.
constexpr bool may_take_offer(std::uint64_t number, std::uint64_t done,
                              std::uint64_t exposure) noexcept
{
    return offer_is_in_turn(number, done) && number <= exposure;
}

/// Whether who waits at a barrier may take the fence epoch that another one granted: the two are in
/// a row, so it has passed that one.
constexpr bool may_take_fence(std::uint64_t granted_by, std::uint64_t waits_at) noexcept
{
    return granted_by + 1 == waits_at;
}

/// Whether an origin that finds its offer so may perform it itself.
constexpr bool may_perform_offered(OfferState state) noexcept { return state == OfferState::none; }

/// Whether it is complete for the origin: nothing of the origin's memory is read any more.
constexpr bool offer_is_over(OfferState state) noexcept { return state == OfferState::performed; }

} // namespace sidelight::rma::rules
