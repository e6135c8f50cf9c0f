// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options.hpp"

namespace sidelight::simulate {

/// What came of a run, in virtual time.
struct ActiveOutcome {
    fabric::sim::Time ended = 0; ///< when the slowest origin's epoch was closed
    std::uint64_t messages = 0;  ///< on the wire
    std::uint64_t calls = 0;     ///< of handlers
    std::uint64_t segments = 0;
    std::uint64_t reserved = 0;    ///< of these, how many lay in the attached buffer
    fabric::sim::Time handler = 0; ///< inside them, all of them
    bool correct = false;          ///< every segment was run, once, and its answer is there
};

/// Origins that send active messages to one target (P5, figures 3 to 7) on the engine of the
/// library over a simulated network: the last rank is the target of all others, which send all of
/// theirs in one epoch. Handlers take the time that the options say.
ActiveOutcome run_active(const ActiveOptions& options);

} // namespace sidelight::simulate
