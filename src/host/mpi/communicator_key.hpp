// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/mpi/declarations.hpp"

namespace sidelight::host::mpi {

/// A key for attributes of communicators, which their copies do not have; `removed` is called with
/// each that goes. MPI_KEYVAL_INVALID if the host refuses.
[[nodiscard]] int create_communicator_key(MPI_Comm_delete_attr_function* removed) noexcept;

} // namespace sidelight::host::mpi
