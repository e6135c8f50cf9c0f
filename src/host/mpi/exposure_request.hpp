// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/mpi/declarations.hpp"

namespace sidelight::host::mpi {

/// MPIX_Win_iwait on a window of the host: a request that is complete when MPI_Win_test says that
/// the exposure epoch is over. Who tests is whoever waits for the request where requests have a
/// function for that (MPICH), and else the host's progress loop (Open MPI). Answers the host's
/// error code; MPI_ERR_UNSUPPORTED_OPERATION, through the window's error handler, where it has
/// neither. One that the program frees before it is complete is not tested any more on MPICH.
[[nodiscard]] int create_exposure_request(MPI_Win win, MPI_Request* handle) noexcept;

} // namespace sidelight::host::mpi
