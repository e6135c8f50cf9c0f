// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// The rules of offers, as those in rules.hpp: what a blocked target may do for an origin that
/// computes. See docs/design/offers.md.
namespace sidelight::rma::rules {

/// What has become of an offer. With the number of its access it is one word, which both sides
/// change by compare-and-swap.
enum class OfferState : std::uint8_t {
    none,      ///< nothing is offered, or it is the origin's again
    offered,   ///< whoever comes first performs it
    taken,     ///< the target is performing it: nobody else may
    performed, ///< and has done so
};

/// Whether an access is offered: its closing call has returned before it was complete, what is
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

/// Whether an origin that finds its offer so may perform it itself.
constexpr bool may_perform_offered(OfferState state) noexcept { return state == OfferState::none; }

/// Whether it is complete for the origin: nothing of the origin's memory is read any more.
constexpr bool offer_is_over(OfferState state) noexcept { return state == OfferState::performed; }

} // namespace sidelight::rma::rules
