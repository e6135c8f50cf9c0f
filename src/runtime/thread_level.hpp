// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/mpi/declarations.hpp"

/// How many threads the program may have in MPI: MPI_Init and each session have a level of their
/// own, and the highest counts.
namespace sidelight::runtime {

/// A session was opened. Counts before the first window.
void learn_session(MPI_Session session) noexcept;

/// The program, or a session of it, has asked for that level, whatever the host says: that has
/// MPI_THREAD_MULTIPLE, for a thread that is not the program's. Counts before the first window, or
/// with what Runtime::learn_threads does for those that are there.
void learn_program_level(int level) noexcept;

/// Whether the host has MPI_THREAD_MULTIPLE although the program has not asked for it.
[[nodiscard]] bool host_has_more_threads() noexcept;

/// Whether any of the levels is MPI_THREAD_MULTIPLE. A program that has none, as far as the library
/// has seen, is taken to have threads.
[[nodiscard]] bool threads_possible() noexcept;

} // namespace sidelight::runtime
