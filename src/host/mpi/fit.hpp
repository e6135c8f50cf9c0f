// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/mpi/version.hpp"

/// Whether this library may serve the MPI that the process has loaded. One that may not steps
/// aside: every call reaches the host as it came. See docs/design/interposing.md.
namespace sidelight::host::mpi {

/// Decided at the first call that finds an MPI, and constant afterwards. If it is no, the first
/// rank says why, in a sentence. No, and nothing said, while there is none, and beside one without
/// PMPI names: a serial program's stand-in, whose handles are anything. Any thread.
[[nodiscard]] bool fits_host() noexcept;

/// Whose MPI the process has loaded, as that says itself: by the MPI ABI one library serves
/// several. Unknown where it does not say. Not before the host is loaded. Any thread.
[[nodiscard]] Family host_family() noexcept;

} // namespace sidelight::host::mpi
