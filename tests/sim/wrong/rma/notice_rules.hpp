// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "rma/rules.hpp" // the wrong ones, of this directory: which one is wrong

// As rules.hpp.
#define rules right_rules
#include "../src/rma/notice_rules.hpp"
#undef rules

namespace sidelight::rma::rules {

using namespace right_rules;

inline bool notice_follows(bool same_way, bool brings_back) noexcept
{
    return right_rules::notice_follows(same_way || wrong == Wrong::notice_beside_messages,
                                       brings_back && wrong != Wrong::notice_overtakes_gets);
}

inline bool notice_counts(std::uint32_t sent_before, std::uint32_t placed) noexcept
{
    return wrong == Wrong::notice_overtakes_zero_copies ||
           right_rules::notice_counts(sent_before, placed);
}

inline bool notification_leaves(bool brings_back, bool is_back) noexcept
{
    return wrong == Wrong::notification_overtakes_gets ||
           right_rules::notification_leaves(brings_back, is_back);
}

inline bool notification_counts(std::uint32_t missing) noexcept
{
    return wrong == Wrong::notification_overtakes_zero_copies ||
           right_rules::notification_counts(missing);
}

inline bool notification_wakes(std::uint64_t value, std::uint64_t lowest) noexcept
{
    const bool late = wrong == Wrong::notification_wakes_late && value != 0;
    return right_rules::notification_wakes(late ? value - 1 : value, lowest);
}

inline bool threshold_reached(std::uint64_t value, std::uint64_t expected) noexcept
{
    return right_rules::threshold_reached(wrong == Wrong::threshold_early ? value + 1 : value,
                                          expected);
}

} // namespace sidelight::rma::rules
