// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/mpi/declarations.hpp"

/// How many threads the program may have in MPI: MPI_Init and each session have a level of their
/// own, and the highest counts.
namespace sidelight::runtime {

/// A session was opened. Counts before the first window.
void learn_session(MPI_Session session) noexcept;

/// Whether any of the levels is MPI_THREAD_MULTIPLE. A program that has none, as far as the library
/// has seen, is taken to have threads.
[[nodiscard]] bool threads_possible() noexcept;

} // namespace sidelight::runtime
