// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "rma/rules.hpp"

// As rma/rules.hpp beside it, which says which of all rules is wrong.
#define rules right_rules
#include "../src/rma/handle_rules.hpp"
#undef rules

namespace sidelight::rma::rules {

using namespace right_rules;

inline bool is_named(std::uint64_t there, std::uint64_t name) noexcept
{
    return (wrong == Wrong::name_outlives_region && name != 0 && there != 0) ||
           right_rules::is_named(there, name);
}

inline bool still_holds(std::uint64_t found, std::uint64_t now) noexcept
{
    constexpr std::uint64_t never = ~std::uint64_t{0};
    return (wrong == Wrong::release_unseen && found != never) ||
           right_rules::still_holds(found, now);
}

} // namespace sidelight::rma::rules
