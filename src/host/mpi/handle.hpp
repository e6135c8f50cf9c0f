// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/status.hpp"
#include "host/mpi/declarations.hpp"

/// The host windows that applications hold in place of ours: names, attributes, error handlers and
/// info live there, the memory does not. See docs/design/node.md.
namespace sidelight::host::mpi {

/// A communicator of this process alone: MPI_COMM_SELF, or in a program of sessions one that is
/// made from `comm`, which includes this process. Local. MPI_COMM_NULL if the host refuses.
/// Valid while a handle lives.
[[nodiscard]] MPI_Comm own_communicator(MPI_Comm comm) noexcept;

/// Makes a handle for a window over `comm`. Local. The host's error if it refuses.
[[nodiscard]] Status create_handle(MPI_Comm comm, MPI_Info info, MPI_Win* handle) noexcept;

/// Frees it, which runs the delete callbacks of its attributes, and sets it to MPI_WIN_NULL.
/// Returns the host's error code: a callback may have refused, then the handle is still valid.
[[nodiscard]] int destroy_handle(MPI_Win* handle) noexcept;

} // namespace sidelight::host::mpi
