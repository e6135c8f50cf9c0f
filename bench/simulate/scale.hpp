// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options.hpp"

namespace sidelight::simulate {

/// What each process pays for its part in a large window.
struct ScaleOutcome {
    double messages = 0;           ///< sent by a process, mean
    double bytes = 0;              ///< of them, headers included
    std::size_t window_bytes = 0;  ///< of a process for the window: most; see Window::memory_bytes
    std::size_t pending_bytes = 0; ///< of a process for its pending epochs, mean: from the heap
    std::size_t pending = 0;       ///< most epochs of a process that were not complete
    std::size_t met = 0;           ///< most members that a process has met
    bool correct = false;          ///< every put has come
};

/// A window of any number of members, of which some have anything to do: each puts to its peers, in
/// a lock epoch for each put or in one lock_all epoch. They are spread over all members, so that no
/// two are on one page of any table. What is asked of the others is seen in the messages.
ScaleOutcome run_scale(const ScaleOptions& options);

} // namespace sidelight::simulate
