// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The way into the progress loop of MPICH 4.0 to 4.2, which offers none: on UCX, that loop calls
/// `ucp_worker_progress` of another library, so the library takes over that name. See
/// docs/design/hooks.md. Other hosts have ways of their own, and nothing is taken over there.
namespace sidelight::host::mpi {

/// Whether the host's loop comes by. It has to have run once: any blocking call will do.
[[nodiscard]] bool has_worker_hook() noexcept;

/// What the loop calls each time round, by any thread and possibly with a lock of the host held,
/// saying whether messages of the host's have moved; null: nothing.
void set_worker_hook(bool (*sweep)(bool host_moved) noexcept) noexcept;

} // namespace sidelight::host::mpi
