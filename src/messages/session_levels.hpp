// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "host/mpi/declarations.hpp"

/// The level of threads that the program has asked for, session by session, where the host's
/// session has MPI_THREAD_MULTIPLE instead (MPI-4.1, 11.3.1). It is not below what the program had
/// before: sessions of MPICH have that.
namespace sidelight::messages {

/// By the info of MPI_Session_init. MPI_THREAD_SINGLE where it does not say.
[[nodiscard]] int level_asked_for(MPI_Info info) noexcept;

/// The same info, with MPI_THREAD_MULTIPLE. To be freed.
[[nodiscard]] MPI_Info with_threads(MPI_Info info) noexcept;

/// Whether the host says that the session has MPI_THREAD_MULTIPLE.
[[nodiscard]] bool has_threads(MPI_Session session) noexcept;

void remember_level(MPI_Session session, int level) noexcept;
/// The one that was known; null: none was.
[[nodiscard]] std::optional<int> forget_level(MPI_Session session) noexcept;

/// Puts the program's level into what MPI_Session_get_info has answered.
void answer_level(MPI_Session session, MPI_Info info) noexcept;

} // namespace sidelight::messages
