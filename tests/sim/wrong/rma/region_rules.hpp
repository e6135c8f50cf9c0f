// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "rma/rules.hpp"

// As rma/rules.hpp of this directory.
#define rules right_rules
#include "../src/rma/region_rules.hpp"
#undef rules

namespace sidelight::rma::rules {

using namespace right_rules;

inline bool keys_are_current(std::uint64_t told, std::uint64_t told_then) noexcept
{
    return wrong == Wrong::keys_kept || right_rules::keys_are_current(told, told_then);
}

inline bool is_detached(std::uint64_t untold) noexcept
{
    return wrong == Wrong::detach_early || right_rules::is_detached(untold);
}

} // namespace sidelight::rma::rules
