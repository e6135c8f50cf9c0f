// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/status.hpp"
#include "host/mpi/declarations.hpp"

/// The host windows that applications hold in place of ours: names, attributes and error handlers
/// live there, the memory does not. See docs/design/interposing.md.
namespace sidelight::host::mpi {

/// A communicator of this process alone, ours, made at first use: from MPI_COMM_SELF, or in a
/// program of sessions for a handle. MPI_COMM_NULL if the host refuses, or sessions have none yet.
/// Its errors return. Not for a thread beside which another may free it.
[[nodiscard]] MPI_Comm own_communicator() noexcept;

/// Frees it, and the handles that are kept. Comes before the end of MPI, or of the last session;
/// another may be made afterwards.
void free_own_communicator() noexcept;

/// Makes a handle on the own communicator; in a program of sessions, on one that is made for it
/// from `comm`, a communicator that includes this process: so it belongs to that session alone.
/// Local. `other` if the host refuses.
[[nodiscard]] Status create_handle(MPI_Comm comm, MPI_Win* handle) noexcept;
/// The same where there may be no such communicator any more: this process is `rank` in `group`.
[[nodiscard]] Status create_handle(MPI_Group group, int rank, MPI_Win* handle) noexcept;

/// The same, but one that was kept is as good.
[[nodiscard]] Status take_handle(MPI_Group group, int rank, MPI_Win* handle) noexcept;
/// Frees it, but it may be kept for the next that is taken: as long as the host takes to make one,
/// a program makes and frees many, but not of sessions. Its attributes must be gone. Sets it to
/// MPI_WIN_NULL.
void give_back_handle(MPI_Win* handle) noexcept;

/// Frees it, which runs the delete callbacks of its attributes, and sets it to MPI_WIN_NULL.
/// Returns the host's error code: a callback may have refused, then the handle is still valid.
[[nodiscard]] int destroy_handle(MPI_Win* handle) noexcept;

/// Whether those callbacks run under a lock that other threads want who make or free handles.
#ifdef OPEN_MPI
inline constexpr bool destroys_under_lock = false;
#else
inline constexpr bool destroys_under_lock = true;
#endif

} // namespace sidelight::host::mpi
