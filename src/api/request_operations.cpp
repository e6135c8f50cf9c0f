// SPDX-License-Identifier: BSD-3-Clause
#include <sidelight.h>

#include "api/entry.hpp"
#include "api/fortran_arguments.hpp"
#include "api/operation_kinds.hpp"
#include "api/parameter_lists.hpp"
#include "api/pass_through.hpp"
#include "host/mpi/completed_request.hpp"
#include "runtime/runtime.hpp"

/// Operations with a request, which work in every kind of epoch, though the standard asks for a
/// passive one. What is over within its call gets a request that is complete.
using namespace sidelight;
using namespace sidelight::api;
using namespace sidelight::runtime;
using host::mpi::Table;
using rma::FlushScope;

namespace {

/// The short way, where it is open. What is complete at the target, too, is ordered as by a flush.
template <class Operation, FlushScope scope, class... Arguments>
bool is_performed(const WindowObject& object, Arguments... arguments) noexcept
{
    if (object.watched) [[unlikely]] {
        return false;
    }
    order_before<Operation>(object);
    rma::Mapped& mapped = *object.mapped;
    if (!Operation::at_once(mapped, arguments...) && !Operation::directly(mapped, arguments...)) {
        return false;
    }
    if constexpr (scope == FlushScope::remote) {
        mapped.order();
    }
    return true;
}

template <class Operation, FlushScope scope, class... Arguments>
int issue_with(MPI_Request* request, const WindowObject& object, Arguments... arguments) noexcept
{
    if (request == nullptr) {
        return host::mpi::answer_window(Status::argument, object.handle);
    }
    if (!is_performed<Operation, scope>(object, arguments...)) {
        OperationCall call = Operation::describe(arguments...);
        call.request_scope = scope;
        return issue(object, call, request);
    }
    const Status status = host::mpi::CompletedRequest::create(request);
    Runtime::pass_by();
    return status == Status::ok ? MPI_SUCCESS : host::mpi::answer_window(status, object.handle);
}

/// The request-based operations of MPI.
template <class Operation, auto host_function, class... Arguments>
int start(MPI_Request* request, Arguments... arguments) noexcept
{
    const MPI_Win win = window_among(arguments...);
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_on<host_function>(win, arguments..., request);
    }
    return issue_with<Operation, FlushScope::local>(request, *object, arguments...);
}

/// Those of P2, section 5, which no host has.
template <class Operation, class... Arguments>
int start_remote(MPI_Request* request, Arguments... arguments) noexcept
{
    const MPI_Win win = window_among(arguments...);
    const WindowObject* object = window_table::find(win);
    return object != nullptr
               ? issue_with<Operation, FlushScope::remote>(request, *object, arguments...)
               : refuse(win);
}

} // namespace

#define SIDELIGHT_COUNTED_OPERATION(name, Operation, parameters)
#define SIDELIGHT_ONE_ELEMENT_OPERATION(name, Operation, parameters)

#define SIDELIGHT_START(name, Operation, parameters, Count)                                        \
    SIDELIGHT_OWN int own_##name(parameters(SIDELIGHT_DECLARE, Count) MPI_Win win,                 \
                                 MPI_Request* request)                                             \
    {                                                                                              \
        return start<Operation, &Table::name>(request parameters(SIDELIGHT_PASS_AFTER, Count),     \
                                              win);                                                \
    }
#define SIDELIGHT_REQUEST_OPERATION(name, Operation, parameters)                                   \
    SIDELIGHT_START(name, Operation, parameters, int)                                              \
    SIDELIGHT_START(name##_c, Operation, parameters, MPI_Count)
#define SIDELIGHT_START_REMOTE(name, Operation, parameters, Count)                                 \
    SIDELIGHT_ENTRY int MPIX_##name(parameters(SIDELIGHT_DECLARE, Count) MPI_Win win,              \
                                    MPI_Request* request)                                          \
    {                                                                                              \
        return start_remote<Operation>(request parameters(SIDELIGHT_PASS_AFTER, Count), win);      \
    }                                                                                              \
    SIDELIGHT_PROFILED(name)
#define SIDELIGHT_REMOTE_REQUEST_OPERATION(name, fortran, Operation, parameters)                   \
    SIDELIGHT_START_REMOTE(name, Operation, parameters, int)                                       \
    SIDELIGHT_START_REMOTE(name##_c, Operation, parameters, MPI_Count)
#define SIDELIGHT_NOTIFIED_OPERATION(name, request_name, fortran, request_fortran, Operation,      \
                                     parameters)
#include "api/operations.def"

// The same for Fortran, as in nonblocking.cpp.
#define SIDELIGHT_COUNTED_OPERATION(name, Operation, parameters)
#define SIDELIGHT_ONE_ELEMENT_OPERATION(name, Operation, parameters)
#define SIDELIGHT_REQUEST_OPERATION(name, Operation, parameters)

#define SIDELIGHT_START_FOR_FORTRAN(name, Operation, parameters, Count)                            \
    SIDELIGHT_ENTRY void mpix_##name(                                                              \
        parameters(SIDELIGHT_DECLARE_FORTRAN, Count) FortranArgument<MPI_Win> win,                 \
        MPI_Fint* request, MPI_Fint* error)                                                        \
    {                                                                                              \
        MPI_Request started = MPI_REQUEST_NULL;                                                    \
        const int code = start_remote<Operation>(                                                  \
            &started parameters(SIDELIGHT_CONVERT_AFTER, Count), from_fortran<MPI_Win>(win));      \
        return_to_fortran(code, started, request, error);                                          \
    }                                                                                              \
    SIDELIGHT_PROFILED_FORTRAN(name)
#define SIDELIGHT_REMOTE_REQUEST_OPERATION(name, fortran, Operation, parameters)                   \
    SIDELIGHT_START_FOR_FORTRAN(fortran##_, Operation, parameters, int)                            \
    SIDELIGHT_START_FOR_FORTRAN(fortran##_c_, Operation, parameters, MPI_Count)
#define SIDELIGHT_NOTIFIED_OPERATION(name, request_name, fortran, request_fortran, Operation,      \
                                     parameters)
#include "api/operations.def"
