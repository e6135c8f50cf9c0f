// SPDX-License-Identifier: BSD-3-Clause
#include "api/fortran_arguments.hpp"
#include "api/notification_names.hpp"
#include "api/operation_kinds.hpp"
#include "api/parameter_lists.hpp"
#include "api/pass_through.hpp"
#include "api/traced_call.hpp"
#include "rma/engine/window_parts.hpp"
#include "runtime/runtime.hpp"

/// Operations that raise a counter of their target (MPI-5.1, 12.6), with and without a request.
using namespace sidelight;
using namespace sidelight::api;
using namespace sidelight::runtime;

namespace {

/// A put without data, which only notifies.
[[nodiscard]] bool is_empty_put(const OperationCall& call) noexcept
{
    return call.kind == rma::OperationKind::put && call.count == 0 && call.origin_count == 0 &&
           call.displacement >= 0 && datatype::contiguous_size(call.type) != 0 &&
           datatype::contiguous_size(call.origin_type) != 0;
}

/// On mapped memory, in some nanoseconds. Answers whether it has done it. Through a memory handle,
/// and where operations are watched, it goes the long way.
template <class Operation, class... Arguments>
[[gnu::always_inline]] inline bool notify_directly(const WindowObject& object,
                                                   std::uint32_t notification,
                                                   Arguments... arguments) noexcept
{
    if (object.region != nullptr || object.watched) {
        return false;
    }
    const OperationCall call = Operation::describe(arguments...);
    const int target = call.target;
    rma::Window& window = *object.window;
    const rma::DirectCounters& direct = window.parts().notifications.direct();
    rma::OpenCounters* counters = direct.find(window.mapped(), target, notification);
    if (counters == nullptr) {
        return false;
    }
    order_before<Operation>(object);
    rma::Mapped& mapped = *object.mapped;
    if (!Operation::at_once(mapped, arguments...) && !Operation::directly(mapped, arguments...) &&
        !is_empty_put(call)) {
        return false;
    }
    direct.raise(target, *counters, notification);
    return true;
}

/// The long way. Those who are traced take no other.
template <class... Rest>
[[gnu::noinline]] int issue_notified(const void* from, const WindowObject& object,
                                     const OperationCall& call, Rest... rest) noexcept
{
    const TracedCall traced(trace::CallKind::notify, false, object.handle, call.target, from);
    return traced.left(issue(object, call, rest...));
}

/// What the forms have in common; `rest` is the request of one that has one, `from` the address
/// that the call returns to, which the short way need not know.
template <class Operation, class... Rest, class... Arguments>
[[gnu::always_inline]] inline int notify(const void* from, std::tuple<Rest...> rest,
                                         int notification, Arguments... arguments) noexcept
{
    const MPI_Win win = window_among(arguments...);
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return refuse(win);
    }
    if (notification < 0) {
        return host::mpi::answer_window(Status::rma_notification, win);
    }
    if constexpr (sizeof...(Rest) == 0) {
        if (notify_directly<Operation>(*object, static_cast<std::uint32_t>(notification),
                                       arguments...)) {
            return MPI_SUCCESS;
        }
    }
    OperationCall call = Operation::describe(arguments...);
    call.notification = notification;
    return std::apply(
        [&](auto... request) { return issue_notified(from, *object, call, request...); }, rest);
}

template <class Operation, class... Arguments>
int start_notify(const void* from, MPI_Request* request, Arguments... arguments) noexcept
{
    const MPI_Win win = window_among(arguments...);
    if (request == nullptr && window_table::find(win) != nullptr) {
        return host::mpi::answer_window(Status::argument, win);
    }
    return notify<Operation>(from, std::tuple(request), arguments...);
}

} // namespace

#define SIDELIGHT_COUNTED_OPERATION(name, Operation, parameters)
#define SIDELIGHT_ONE_ELEMENT_OPERATION(name, Operation, parameters)
#define SIDELIGHT_REQUEST_OPERATION(name, Operation, parameters)
#define SIDELIGHT_REMOTE_REQUEST_OPERATION(name, fortran, Operation, parameters)

#define SIDELIGHT_NOTIFY(name, request_name, Operation, parameters, Count)                         \
    SIDELIGHT_NOTIFICATION(name, parameters(SIDELIGHT_DECLARE, Count) int notification,            \
                           MPI_Win win)                                                            \
    {                                                                                              \
        return notify<Operation>(__builtin_return_address(0), std::tuple(),                        \
                                 notification parameters(SIDELIGHT_PASS_AFTER, Count), win);       \
    }                                                                                              \
    SIDELIGHT_NOTIFICATION(request_name, parameters(SIDELIGHT_DECLARE, Count) int notification,    \
                           MPI_Win win, MPI_Request* request)                                      \
    {                                                                                              \
        return start_notify<Operation>(__builtin_return_address(0), request,                       \
                                       notification parameters(SIDELIGHT_PASS_AFTER, Count), win); \
    }
#define SIDELIGHT_NOTIFIED_OPERATION(name, request_name, fortran, request_fortran, Operation,      \
                                     parameters)                                                   \
    SIDELIGHT_NOTIFY(name, request_name, Operation, parameters, int)                               \
    SIDELIGHT_NOTIFY(name##_c, request_name##_c, Operation, parameters, MPI_Count)
#include "api/operations.def"

// The same for Fortran, as in nonblocking.cpp.
#define SIDELIGHT_COUNTED_OPERATION(name, Operation, parameters)
#define SIDELIGHT_ONE_ELEMENT_OPERATION(name, Operation, parameters)
#define SIDELIGHT_REQUEST_OPERATION(name, Operation, parameters)
#define SIDELIGHT_REMOTE_REQUEST_OPERATION(name, fortran, Operation, parameters)

#define SIDELIGHT_NOTIFY_FOR_FORTRAN(name, request_name, Operation, parameters, Count)             \
    SIDELIGHT_FORTRAN_NOTIFICATION(                                                                \
        name, parameters(SIDELIGHT_DECLARE_FORTRAN, Count) const MPI_Fint* notification,           \
        FortranArgument<MPI_Win> win, MPI_Fint* error)                                             \
    {                                                                                              \
        const int code = notify<Operation>(                                                        \
            __builtin_return_address(0), std::tuple(),                                             \
            *notification parameters(SIDELIGHT_CONVERT_AFTER, Count), from_fortran<MPI_Win>(win)); \
        return_to_fortran(code, error);                                                            \
    }                                                                                              \
    SIDELIGHT_FORTRAN_NOTIFICATION(                                                                \
        request_name, parameters(SIDELIGHT_DECLARE_FORTRAN, Count) const MPI_Fint* notification,   \
        FortranArgument<MPI_Win> win, MPI_Fint* request, MPI_Fint* error)                          \
    {                                                                                              \
        MPI_Request started = MPI_REQUEST_NULL;                                                    \
        const int code = start_notify<Operation>(                                                  \
            __builtin_return_address(0), &started,                                                 \
            *notification parameters(SIDELIGHT_CONVERT_AFTER, Count), from_fortran<MPI_Win>(win)); \
        return_to_fortran(code, started, request, error);                                          \
    }
#define SIDELIGHT_NOTIFIED_OPERATION(name, request_name, fortran, request_fortran, Operation,      \
                                     parameters)                                                   \
    SIDELIGHT_NOTIFY_FOR_FORTRAN(fortran##_, request_fortran##_, Operation, parameters, int)       \
    SIDELIGHT_NOTIFY_FOR_FORTRAN(fortran##_c_, request_fortran##_c_, Operation, parameters,        \
                                 MPI_Count)
#include "api/operations.def"
