// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// Rules, as in rma/rules.hpp, of the keys to attached regions.
namespace sidelight::rma::rules {

/// Whether the keys to a member's regions still open what they did: it has told of no detach since
/// it gave them. It tells by a number of its own in memory of whom it has given them to.
constexpr bool keys_are_current(std::uint64_t told, std::uint64_t told_then) noexcept
{
    return told == told_then;
}

/// Whether a detach may return: all who have the region's key have been told.
constexpr bool is_detached(std::uint64_t untold) noexcept { return untold == 0; }

} // namespace sidelight::rma::rules
