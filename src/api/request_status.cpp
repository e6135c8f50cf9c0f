// SPDX-License-Identifier: BSD-3-Clause
#include "api/entry.hpp"
#include "host/mpi/table.hpp"
#include "runtime/runtime.hpp"

#if SIDELIGHT_HOST_LACKS_HOOK

using namespace sidelight;

/// Asking for the status of a generalized request makes MPICH 4.0 progress, but, unlike MPI_Test,
/// does not call the poll function of the request, which would sweep, and complete what was found
/// complete inside the host's loop. A program may ask until it is so. Others have no such function.
SIDELIGHT_OWN int own_Request_get_status(MPI_Request request, int* flag, MPI_Status* status)
{
    if (runtime::Runtime* runtime = runtime::Runtime::existing()) {
        runtime->waiting().sweep();
        runtime->requests().complete_found();
    }
    return host::mpi::table().Request_get_status(request, flag, status);
}

#endif
