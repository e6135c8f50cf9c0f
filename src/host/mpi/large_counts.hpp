// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace sidelight::host::mpi {

/// What takes the place of a large-count function on windows that the host lacks: programs that
/// look whether there is one (mpi4py) find ours, on every host. It is the host's function of the
/// name without _c, for all that this one can be told; the rest is unsupported. It takes words, and
/// serves whether this library fits or not. `symbol` is the PMPI_ name; null where it is another's.
[[nodiscard]] void* in_place_of(const char* symbol) noexcept;

} // namespace sidelight::host::mpi
