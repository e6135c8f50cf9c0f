// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "options.hpp"

namespace sidelight::simulate {

/// What came of a run, in virtual time.
struct LuOutcome {
    fabric::sim::Time ended = 0; ///< when the last rank was through
    double in_mpi = 0;           ///< share of the time in calls of MPI, mean of all ranks
    std::uint64_t messages = 0;
    std::uint64_t events = 0; ///< of the simulation
    bool correct = false;     ///< each row has come to each rank that needs it, in its turn
};

/// LU decomposition of a full matrix (P1, figure 13) on the engine of the library over a simulated
/// network. Row k belongs to rank k mod ranks, which puts it, when it is finished, to all ranks
/// that own a later one, in an epoch of its own. Numbers are not computed: that takes the time of
/// its floating point operations; and of a row only the first bytes are moved, which say whose it
/// is.
LuOutcome run_lu(const LuOptions& options);

} // namespace sidelight::simulate
