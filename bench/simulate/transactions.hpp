// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options.hpp"

namespace sidelight::simulate {

/// What came of a run, in virtual time.
struct Outcome {
    fabric::sim::Time ended = 0; ///< when the last transaction was complete
    std::uint64_t messages = 0;
    std::size_t pending = 0; ///< most epochs of one rank that were not complete
    bool correct = false;    ///< every update is there, once
};

/// Massive unstructured transactions (P1, figure 12) on the engine of the library over a simulated
/// network: each rank adds to numbers of random others, each time in an exclusive lock epoch.
Outcome run_transactions(const Options& options);

} // namespace sidelight::simulate
