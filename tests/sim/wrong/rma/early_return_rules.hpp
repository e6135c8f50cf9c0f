// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "rma/kinds.hpp"
#include "rma/rules.hpp" // the wrong ones, of this directory: which one is wrong

// As rules.hpp.
#define rules right_rules
#include "../src/rma/early_return_rules.hpp"
#undef rules

namespace sidelight::rma::rules {

using namespace right_rules;

inline bool may_return_early(bool others_finish, std::size_t room, std::size_t needed) noexcept
{
    return right_rules::may_return_early(others_finish || wrong == Wrong::early_for_nobody, room,
                                         wrong == Wrong::early_without_room ? 0 : needed);
}

inline bool may_be_kept(bool brings_back, bool is_active) noexcept
{
    return wrong == Wrong::early_with_gets || right_rules::may_be_kept(brings_back, is_active);
}

inline bool may_follow_early(std::uint64_t early, std::uint64_t over,
                             const Reorder& reorder) noexcept
{
    return wrong == Wrong::early_overtaken || right_rules::may_follow_early(early, over, reorder);
}

inline bool may_lock_after_early(std::uint64_t returned, std::uint64_t oldest) noexcept
{
    return wrong == Wrong::locks_beside_early ||
           right_rules::may_lock_after_early(returned, oldest);
}

} // namespace sidelight::rma::rules
