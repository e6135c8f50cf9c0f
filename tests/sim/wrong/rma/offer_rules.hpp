// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "rma/rules.hpp" // the wrong ones, of this directory: which one is wrong

// As rules.hpp.
#define rules right_rules
#include "../src/rma/offer_rules.hpp"
#undef rules

namespace sidelight::rma::rules {

using namespace right_rules;

inline bool offer_is_in_turn(std::uint64_t number, std::uint64_t done) noexcept
{
    return wrong == Wrong::offer_out_of_turn || right_rules::offer_is_in_turn(number, done);
}

inline bool may_take_offer(std::uint64_t number, std::uint64_t done,
                           std::uint64_t exposure) noexcept
{
    return wrong == Wrong::offer_out_of_turn ||
           right_rules::may_take_offer(number, done,
                                       wrong == Wrong::offer_before_exposure ? number : exposure);
}

inline bool may_take_fence(std::uint64_t granted_by, std::uint64_t waits_at) noexcept
{
    return wrong == Wrong::offer_before_fence || right_rules::may_take_fence(granted_by, waits_at);
}

inline bool may_perform_offered(OfferState state) noexcept
{
    return (wrong == Wrong::offer_performed_twice && state == OfferState::taken) ||
           right_rules::may_perform_offered(state);
}

inline bool offer_is_over(OfferState state) noexcept
{
    return wrong != Wrong::offer_never_over &&
           ((wrong == Wrong::offer_over_early && state == OfferState::taken) ||
            right_rules::offer_is_over(state));
}

} // namespace sidelight::rma::rules
