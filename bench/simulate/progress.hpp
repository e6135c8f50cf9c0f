// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options.hpp"

namespace sidelight::simulate {

/// What came of a run, in virtual time.
struct ProgressOutcome {
    double epoch = 0;        ///< ns of a target's epoch, mean of all
    double origin = 0;       ///< of an origin's, its work included
    std::uint64_t wakes = 0; ///< of interrupt threads
    std::uint64_t messages = 0;
    bool correct = false; ///< every rank has come to its end, and all data are there
};

/// Epochs in which an origin works (P4, figures 5.6 to 5.11) on the engine of the library over a
/// simulated network: the ranks of one node are origins, those of the other one targets, which are
/// late. A processor is something that a rank, its progress thread and others share.
ProgressOutcome run_progress(const ProgressOptions& options);

} // namespace sidelight::simulate
