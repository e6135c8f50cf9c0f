// SPDX-License-Identifier: BSD-3-Clause
#include <sidelight.h>

#include "api/entry.hpp"
#include "api/fortran_arguments.hpp"
#include "api/host_call.hpp"
#include "api/parameter_lists.hpp"
#include "api/pass_through.hpp"
#include "api/synchronization_call.hpp"
#include "api/traced_call.hpp"
#include "host/mpi/completed_request.hpp"
#include "host/mpi/exposure_request.hpp"
#include "host/mpi/fit.hpp"
#include "runtime/life.hpp"

/// The nonblocking synchronisation calls of P1, section V, in C and in Fortran. What they promise:
/// include/sidelight.h.
using namespace sidelight;
using namespace sidelight::api;
using namespace sidelight::runtime;

namespace {

/// On a window of the host.
template <class Call, class... Arguments>
int begin_on_host(MPI_Request* request, MPI_Win win, Arguments... arguments) noexcept
{
    if (request == nullptr) {
        return host::mpi::answer_window(Status::argument, win);
    }
    if constexpr (Call::on_host == OnHost::refuses) {
        return host::mpi::answer_window(Status::unsupported, win);
    } else if constexpr (Call::on_host == OnHost::tests) {
        lend_communicator();
        return host::mpi::create_exposure_request(win, request);
    } else {
        const int code = call_host<Call>(win, arguments...);
        if (code != MPI_SUCCESS) {
            return code;
        }
        lend_communicator();
        const Status status = host::mpi::CompletedRequest::create(request);
        return status == Status::ok ? MPI_SUCCESS : host::mpi::answer_window(status, win);
    }
}

template <class Call, class... Arguments>
int begin(MPI_Request* request, MPI_Win win, Arguments... arguments) noexcept
{
    WindowObject* object = window_table::find(win);
    if (object == nullptr) [[unlikely]] {
        if (!host::mpi::fits_host()) {
            return MPI_ERR_OTHER; // it has no such call
        }
        return pass_through(win, [&] { return begin_on_host<Call>(request, win, arguments...); });
    }
    if (request == nullptr) {
        return host::mpi::answer_window(Status::argument, win);
    }
    if (!has_call<Call>(*object)) {
        return host::mpi::answer_window(Status::rma_sync, win);
    }
    Runtime& runtime = *Runtime::existing();
    const Status status = runtime.begin(*object, request, [&](Request* engine_side) {
        return Call::start(*object, arguments..., engine_side);
    });
    runtime.engine().leave_handlers();
    return host::mpi::answer_window(status, object->handle);
}

template <class Call, trace::CallKind call, class... Arguments>
int begin_from(const void* from, MPI_Request* request, MPI_Win win, Arguments... arguments) noexcept
{
    const TracedCall traced(call, true, win, rank_among<call>(arguments...), from);
    return traced.left(begin<Call>(request, win, arguments...));
}

} // namespace

#define SIDELIGHT_SYNCHRONIZATION(name, Call, parameters)                                          \
    SIDELIGHT_ENTRY int MPIX_Win_i##name(parameters(SIDELIGHT_DECLARE) MPI_Win win,                \
                                         MPI_Request* request)                                     \
    {                                                                                              \
        return begin_from<Call, trace::CallKind::name>(__builtin_return_address(0), request,       \
                                                       win parameters(SIDELIGHT_PASS_AFTER));      \
    }                                                                                              \
    SIDELIGHT_PROFILED(Win_i##name)
#include "api/synchronization.def"

// The same for Fortran. One function serves every way to MPI: a program with mpif.h calls it by the
// name that its compiler makes of MPIX_Win_ifence, the modules in include/sidelight_f08.f90 and
// include/sidelight_mpi.f90 bind to that name. All arguments come by reference, handles as
// integers; `error` is null where a program leaves ierror out, which the modules allow.

#define SIDELIGHT_SYNCHRONIZATION(name, Call, parameters)                                          \
    SIDELIGHT_ENTRY void mpix_win_i##name##_(                                                      \
        parameters(SIDELIGHT_DECLARE_FORTRAN) FortranArgument<MPI_Win> win, MPI_Fint* request,     \
        MPI_Fint* error)                                                                           \
    {                                                                                              \
        MPI_Request begun = MPI_REQUEST_NULL;                                                      \
        const int code = begin_from<Call, trace::CallKind::name>(                                  \
            __builtin_return_address(0), &begun,                                                   \
            from_fortran<MPI_Win>(win) parameters(SIDELIGHT_CONVERT_AFTER));                       \
        return_to_fortran(code, begun, request, error);                                            \
    }                                                                                              \
    SIDELIGHT_PROFILED_FORTRAN(win_i##name##_)
#include "api/synchronization.def"
