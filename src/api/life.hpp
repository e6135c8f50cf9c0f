// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace sidelight::api {

/// Whether the program may call MPI: between MPI_Init and MPI_Finalize, or in a session.
[[nodiscard]] bool mpi_is_up() noexcept;

} // namespace sidelight::api
