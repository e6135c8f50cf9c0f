// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// As rma/rules.hpp beside it, which says which of all rules is wrong.
#define is_named right_is_named
#define still_holds right_still_holds
#include "../src/rma/handle_rules.hpp"
#undef is_named
#undef still_holds

#include "rma/rules.hpp"

namespace sidelight::rma::rules {

inline bool is_named(std::uint64_t there, std::uint64_t name) noexcept
{
    return (wrong == Wrong::name_outlives_region && name != 0 && there != 0) ||
           right_is_named(there, name);
}

inline bool still_holds(std::uint64_t found, std::uint64_t now) noexcept
{
    constexpr std::uint64_t never = ~std::uint64_t{0};
    return (wrong == Wrong::release_unseen && found != never) || right_still_holds(found, now);
}

} // namespace sidelight::rma::rules
