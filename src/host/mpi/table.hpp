// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/mpi/declarations.hpp"

namespace sidelight::host::mpi {

/// The host's own functions: `table().Win_free(&win)` is its PMPI_Win_free. Sidelight exports those
/// names itself and is not linked to the host, so everything that it asks goes through here.
/// A function that the host lacks is null: the MPI-4 ones on MPI-3 hosts, but for those on windows,
/// which have something in their place (large_counts.hpp), and all before it is loaded.
struct Table {
#define SIDELIGHT_HOST_FUNCTION(name) decltype(&PMPI_##name) name = nullptr;
#include "host/mpi/functions.def"
#undef SIDELIGHT_HOST_FUNCTION
};

/// Filled at the first call, which must not come before the host is loaded; constant afterwards.
[[nodiscard]] const Table& table() noexcept;

/// Whether there is a host, and one that has its calls under their PMPI names, as MPI demands.
[[nodiscard]] bool has_profiled_names() noexcept;

/// The host's symbol of that name, also one that is not MPI's; null where it has none. Where no
/// call has a PMPI name, PMPI_X is what is called MPI_X behind this library.
[[nodiscard]] void* find_symbol(const char* name) noexcept;

/// The same, past any library that stands between the program and its host.
[[nodiscard]] void* find_in_host(const char* name) noexcept;

/// Whether that lies in the host's library.
[[nodiscard]] bool is_of_host(const void* address) noexcept;

/// As find_symbol, and where the host's own libraries do not have it, in any other that is loaded
/// and not ours: the host's Fortran is in libraries of its own, which come with an extension of
/// Python, say, and are seen by that one alone. A library that comes later may have it.
[[nodiscard]] void* find_anywhere(const char* name) noexcept;

/// The program's, or that of any library which is loaded. Null where there is none.
[[nodiscard]] void* find_in_program(const char* name) noexcept;

} // namespace sidelight::host::mpi
