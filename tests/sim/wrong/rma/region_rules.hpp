// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/rules.hpp"

// As rma/rules.hpp of this directory.
#define keys_are_current right_keys_are_current
#define is_detached right_is_detached
#include "../src/rma/region_rules.hpp"
#undef keys_are_current
#undef is_detached

namespace sidelight::rma::rules {

inline bool keys_are_current(std::uint64_t told, std::uint64_t told_then) noexcept
{
    return wrong == Wrong::keys_kept || right_keys_are_current(told, told_then);
}

inline bool is_detached(std::uint64_t untold) noexcept
{
    return wrong == Wrong::detach_early || right_is_detached(untold);
}

} // namespace sidelight::rma::rules
