// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The host with threads that the program has not asked for.
namespace sidelight::messages {

/// Whether the program could lose by it: Open MPI 4 has no windows between nodes then but those of
/// this library, which need UCX. Says so where it is. Before MPI is initialised.
[[nodiscard]] bool threads_would_harm() noexcept;

/// libsidelight.so decides by the program's level, not by the host's, what the program may do.
void tell_program_level(int level) noexcept;

} // namespace sidelight::messages
