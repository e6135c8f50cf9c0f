// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "host/mpi/declarations.hpp"

/// What an info says of the level of threads of a session: its key thread_level (MPI-4.1, 11.3.1).
namespace sidelight::host::mpi {

/// Nothing: it does not say, or says what is none.
[[nodiscard]] std::optional<int> session_level_in(MPI_Info info) noexcept;

/// That of a session. Nothing: the host does not say.
[[nodiscard]] std::optional<int> session_level_of(MPI_Session session) noexcept;

void set_session_level(MPI_Info info, int level) noexcept;

} // namespace sidelight::host::mpi
