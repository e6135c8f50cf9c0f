// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/mpi/declarations.hpp"

/// What the library does when MPI ends (MPI-4.1, 11.2 and 11.3): before the host does, and after
/// the program's callbacks, it takes its hook out of the host's loop and its keys off the host's
/// datatypes.
namespace sidelight::runtime {

/// Whether the program may call MPI: between MPI_Init and MPI_Finalize, or in a session.
[[nodiscard]] bool mpi_is_up() noexcept;

/// Whether what is there of MPI ends with MPI_Finalize.
[[nodiscard]] bool is_world_alone() noexcept;

/// A window is made, or another request. From now on whoever calls the host at any time uses the
/// communicator of the process alone, or none where that may be freed beside it: one thread ends a
/// session, while another one calls.
void lend_communicator() noexcept;

/// Around MPI_Finalize. Windows of sessions that are open go on.
void begin_finalize() noexcept;
void end_finalize() noexcept;

/// After MPI_Init or MPI_Init_thread.
void world_opened() noexcept;
/// The program, or a session of it, has asked for that level, whatever the host says
/// (learn_program_level). Until one is MPI_THREAD_MULTIPLE one thread calls at a time.
void program_level_told(int level) noexcept;
/// After MPI_Session_init has made one; around MPI_Session_finalize. Several threads may do so at
/// once, and end the world beside it.
void session_opened(MPI_Session session) noexcept;
void begin_session_finalize() noexcept;
/// `refused`: the host goes on with it.
void end_session_finalize(bool refused) noexcept;

} // namespace sidelight::runtime
