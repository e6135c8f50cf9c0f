// SPDX-License-Identifier: BSD-3-Clause
#include "api/entry.hpp"
#include "host/library_threads.hpp"
#include "host/mpi/progress.hpp"
#include "runtime/life.hpp"

/// What libsidelight_messages.so, where it is loaded above this library, tells it. See
/// docs/design/two-sided.md.
using namespace sidelight;

/// The host has MPI_THREAD_MULTIPLE, but the program, or a session of it, has asked for `level`.
/// Windows of a session with a lower level may be there already.
SIDELIGHT_ENTRY void sidelight_set_program_threads(int level)
{
    runtime::program_level_told(level);
}

/// The calling thread lets the host progress for messages' sake: the host's loop does not sweep on
/// it.
SIDELIGHT_ENTRY void sidelight_leave_out_this_thread(void) { host::mpi::leave_out_this_thread(); }

/// Threads that `start(context)` starts are not the program's (host/library_threads.hpp).
SIDELIGHT_ENTRY void sidelight_start_own_threads(void (*start)(void*), void* context)
{
    const host::LibraryThreads not_of_the_program;
    start(context);
}
