// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The two directions of progress: our blocking calls let the host progress, and the host's loop
/// sweeps our engine, so that MPI_Wait or MPI_Recv on anything drive it. See
/// docs/design/hooks.md.
namespace sidelight::host::mpi {

/// Lets the host progress, once, without blocking. Does nothing inside of a sweep that the host's
/// own loop has called. Any thread, between MPI's initialisation and its end.
void poll_host() noexcept;

/// Registers `sweep` with the host's loop. It says whether anything moved, and hears whether the
/// host's messages have moved since the last time, where that can be known; it is called by any
/// thread that is inside the host, millions of times a second, possibly with a lock of the host
/// held, so it must try rather than wait. Answers false where the host has no such hook; then only
/// requests of our own are swept for (see requests.hpp). Does nothing if it is registered already.
/// Comes after a call that has let the host progress, which making a window is.
bool start_hook(bool (*sweep)(bool host_moved) noexcept) noexcept;

/// Takes it out. Comes before the end of MPI (MPICH's end waits for that). The sweep may be called
/// once more meanwhile. Does nothing if there is none.
void stop_hook() noexcept;

/// Whether it is registered, and MPI_Finalize waits for its end before it calls the program's
/// functions: MPICH from 4.3 on.
[[nodiscard]] bool hook_ends_first() noexcept;

/// Whether this thread is in a sweep that the host's loop has called: it may hold a lock of the
/// host's, and the engine.
[[nodiscard]] bool is_in_hook() noexcept;

/// Whether this thread is in poll_host(): the program has called us, and not the host.
[[nodiscard]] bool is_in_poll() noexcept;

/// Whether this thread is in a sweep that comes by way of the worker hook. With
/// MPI_THREAD_MULTIPLE MPICH holds a lock there, which its own calls would take again.
[[nodiscard]] bool is_in_worker_hook() noexcept;

/// The host's loop does not sweep on this thread from now on: it is none of the program's, and not
/// the engine's.
void leave_out_this_thread() noexcept;
[[nodiscard]] bool is_left_out() noexcept;

} // namespace sidelight::host::mpi
