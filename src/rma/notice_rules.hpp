// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// The rules of what a member is told, as those in rules.hpp: when notices and notifications leave,
/// and when they count.
namespace sidelight::rma::rules {

/// Whether the notice that ends an operation's epoch at its target (done, unlock) may leave as soon
/// as the operation is sent. It comes there behind it if it takes the same way; what brings data
/// back is waited for anyway. Otherwise the notice waits until the operation is answered.
constexpr bool notice_follows(bool same_way, bool brings_back) noexcept
{
    return same_way && !brings_back;
}

/// Whether an operation leaves although others may soon leave with it. What ends a start epoch at
/// its target, and nothing else, makes its operations visible there, and the origin waits for no
/// answer but to those that bring data back: a small one leaves with that notice at the latest.
/// Where operations came in rows before somebody waited for them, the others of this row will
/// leave together, and whoever waits does so for them. `is_asked_for`: it brings data back, or a
/// request of its own waits for the target.
constexpr bool leaves_at_once(bool in_start_epoch, bool in_rows, bool is_asked_for,
                              bool zero_copy) noexcept
{
    return (!in_start_epoch && !in_rows) || is_asked_for || zero_copy;
}

/// Such a notice may overtake zero-copy messages alone. It says how many were sent before it, and
/// counts when all of these are in memory. Numbers wrap around.
constexpr bool notice_counts(std::uint32_t sent_before, std::uint32_t placed) noexcept
{
    return static_cast<std::int32_t>(placed - sent_before) >= 0;
}

/// Whether the notification of an operation may leave for its target. It goes behind the data, and
/// so comes behind them; what brings data back is waited for, since until then its target's memory
/// is still read.
constexpr bool notification_leaves(bool brings_back, bool is_back) noexcept
{
    return !brings_back || is_back;
}

/// Whether a notification that has come counts: of the zero-copy puts that its own operation is
/// made of, which it may overtake, so many are missing.
constexpr bool notification_counts(std::uint32_t missing) noexcept { return missing == 0; }

/// Whether who raises a counter tells its owner, who waits for `lowest`; 0: for nothing.
constexpr bool notification_wakes(std::uint64_t value, std::uint64_t lowest) noexcept
{
    return lowest != 0 && value >= lowest;
}

/// Whether who waits for a counter may go on.
constexpr bool threshold_reached(std::uint64_t value, std::uint64_t expected) noexcept
{
    return value >= expected;
}

} // namespace sidelight::rma::rules
