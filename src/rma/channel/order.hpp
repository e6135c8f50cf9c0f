// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/channel/channel.hpp"

/// The order of operations from this process to one member: which of those whose order counts are
/// under way, and what may start beside them. See docs/design/ordered-windows.md. Guarded by the
/// engine.
namespace sidelight::rma {

/// Whether an ordered operation may start on that road now. By messages, it is the first of those
/// that wait.
[[nodiscard]] bool may_start(const Channel& target, Road road) noexcept;

/// It is under way, or waits; counted until it leaves, which it does when it is complete.
void join_order(Op& op, Channel& target, Road road) noexcept;
void leave_order(Op& op) noexcept;

/// The turn of an operation that is to go by messages has come, where that may be now: it is on its
/// way, and `flight` says how. False: it stays the first of those that wait.
[[nodiscard]] bool may_leave(Flight& flight) noexcept;

/// The target says that it has so many zero-copy puts; it is believed as far as it was sent them.
void note_placed(Channel& target, std::uint32_t placed) noexcept;

/// Whether the target must be told to perform what follows behind all zero-copy puts so far.
[[nodiscard]] bool needs_order(const Channel& target, Road road) noexcept;

} // namespace sidelight::rma
