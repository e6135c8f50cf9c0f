// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Whether this library may serve the MPI that the process has loaded. One that may not steps
/// aside: every call reaches the host as it came. See docs/design/interposing.md.
namespace sidelight::host::mpi {

/// Decided at the first call, which must not come before the host is loaded, and constant
/// afterwards. If it is no, the first rank says why, in a sentence. Any thread.
[[nodiscard]] bool fits_host() noexcept;

} // namespace sidelight::host::mpi
