// SPDX-License-Identifier: BSD-3-Clause
#include "api/entry.hpp"
#include "host/mpi/table.hpp"
#include "runtime/runtime.hpp"

#if SIDELIGHT_HOST_LACKS_HOOK

using namespace sidelight;

namespace {

/// Asking for the status of a generalized request makes MPICH 4.0 progress, but, unlike MPI_Test,
/// does not call the poll function of the request, which would sweep, and complete what was found
/// complete inside the host's loop. A program may ask until it is so. Others have no such function.
void sweep_before_status() noexcept
{
    if (runtime::Runtime* runtime = runtime::Runtime::existing()) {
        runtime->waiting().sweep();
        runtime->requests().complete_found();
    }
}

} // namespace

SIDELIGHT_OWN int own_Request_get_status(MPI_Request request, int* flag, MPI_Status* status)
{
    sweep_before_status();
    return host::mpi::table().Request_get_status(request, flag, status);
}

#if SIDELIGHT_HAS_STATUS_OF_SEVERAL

template <class Function>
struct SecondParameter;
template <class Answer, class First, class Second, class... Others>
struct SecondParameter<Answer(First, Second, Others...)> {
    using Type = Second;
};
/// Constant by the standard, not by the header of Intel MPI 2021.
using AskedFor = SecondParameter<decltype(MPI_Request_get_status_all)>::Type;

SIDELIGHT_OWN int own_Request_get_status_all(int count, AskedFor requests, int* flag,
                                             MPI_Status* statuses)
{
    sweep_before_status();
    return host::mpi::table().Request_get_status_all(count, requests, flag, statuses);
}

SIDELIGHT_OWN int own_Request_get_status_any(int count, AskedFor requests, int* index, int* flag,
                                             MPI_Status* status)
{
    sweep_before_status();
    return host::mpi::table().Request_get_status_any(count, requests, index, flag, status);
}

SIDELIGHT_OWN int own_Request_get_status_some(int count, AskedFor requests, int* ended,
                                              int* indices, MPI_Status* statuses)
{
    sweep_before_status();
    return host::mpi::table().Request_get_status_some(count, requests, ended, indices, statuses);
}

#endif

#endif
