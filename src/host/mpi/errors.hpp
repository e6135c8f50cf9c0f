// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/status.hpp"
#include "host/mpi/declarations.hpp"

namespace sidelight::host::mpi {

/// Whether the program is between MPI_Init and MPI_Finalize: the predefined communicators work.
/// False all the time in a program that uses sessions alone.
[[nodiscard]] bool world_is_up() noexcept;

/// The MPI error code of a Status, for most their class; MPI_SUCCESS for `ok`. A class that the
/// host's header lacks becomes its nearest relative.
[[nodiscard]] int error_class(Status status) noexcept;

/// The class of Status::rma_notification, which hosts have from MPI-5.1 on. Before, it is added to
/// theirs with a code of its own: not every host finds the class of an added class.
[[nodiscard]] int class_of_notification() noexcept;

/// Ends a call on a window: `ok` is MPI_SUCCESS at once; anything else goes to the error handler of
/// the host window that is its handle, and is returned as error class if that returns.
[[nodiscard]] int answer_window(Status status, MPI_Win handle) noexcept;

/// The same for a call that has no valid window, through a communicator's handler, which may throw.
[[nodiscard]] int answer_comm(Status status, MPI_Comm comm);

/// The same where there is neither: through MPI_COMM_SELF (MPI-4) or MPI_COMM_WORLD (before), or
/// through nothing where MPI_Init has not been called.
[[nodiscard]] int answer(Status status) noexcept;

} // namespace sidelight::host::mpi
