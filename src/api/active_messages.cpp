// SPDX-License-Identifier: BSD-3-Clause
#include <new>
#include <optional>

#include <sidelight.h>

#include "api/active_call.hpp"
#include "api/entry.hpp"
#include "api/fortran_arguments.hpp"
#include "api/parameter_lists.hpp"
#include "api/pass_through.hpp"
#include "api/traced_call.hpp"
#include "base/last_access.hpp"
#include "host/crash_line.hpp"
#include "host/mpi/fit.hpp"
#include "rma/engine/window_parts.hpp"
#include "runtime/active_runner.hpp"
#include "runtime/runtime.hpp"

/// Generalized active messages (P5). What the calls promise: include/sidelight_am.h.
using namespace sidelight;
using namespace sidelight::api;
using namespace sidelight::runtime;

namespace {

/// Needs the engine.
Status hand_over(const WindowObject& object, const ActiveArguments& arguments,
                 rma::Request* request) noexcept
{
    rma::Operation operation;
    rma::ActiveCall call;
    const bool elsewhere = object.region != nullptr && arguments.target != MPI_PROC_NULL &&
                           arguments.target != object.region->rank;
    const Status status = elsewhere ? Status::rank : translate(object, arguments, operation, call);
    if (status != Status::ok || arguments.target == MPI_PROC_NULL) {
        rma::finish(status == Status::ok ? request : nullptr);
        return status;
    }
    operation.active = &call;
    return object.window->issue(operation, request);
}

/// What runs here is run in the call, if it may be by now. What is asked of targets they answer:
/// that there is room, and the end of messages. A message takes longer than other operations, and
/// few are on their way at once, so a call counts as several that pass by.
int issue(const WindowObject& object, const ActiveArguments& arguments) noexcept
{
    LastAccess::moved();
    if (run_directly(object, arguments)) [[likely]] {
        return MPI_SUCCESS;
    }
    constexpr unsigned calls_of_a_message = 8;
    Engine& engine = Runtime::existing()->engine();
    Status status = Status::unsupported;
    if (!HandlerCaller::inside()) {
        {
            const CallNote note(engine);
            const EngineToken token(engine);
            status = hand_over(object, arguments, nullptr);
        }
        run_active<EngineToken>(engine);
        Runtime::pass_by(calls_of_a_message);
    }
    return status == Status::ok ? MPI_SUCCESS : host::mpi::answer_window(status, object.handle);
}

int issue(const WindowObject& object, const ActiveArguments& arguments,
          MPI_Request* request) noexcept
{
    if (request == nullptr) {
        return host::mpi::answer_window(Status::argument, object.handle);
    }
    LastAccess::moved();
    Runtime& runtime = *Runtime::existing();
    const Status status = runtime.begin(object, request, [&](rma::Request* engine_side) {
        return hand_over(object, arguments, engine_side);
    });
    run_active<EngineToken>(runtime.engine());
    return host::mpi::answer_window(status, object.handle);
}

/// `notification`: of the forms that raise a counter of the target's behind it; `from`: the address
/// that one of these returns to. `rest` is the request of the form that has one.
template <class Count, class... Rest>
int start(const void* from, const void* input, Count input_count, MPI_Datatype input_type,
          void* output, Count output_count, MPI_Datatype output_type, Count segments, int target,
          MPI_Datatype target_input_type, MPI_Aint displacement, Count count, MPI_Datatype type,
          MPI_Datatype target_output_type, MPI_Op op, std::optional<int> notification, MPI_Win win,
          Rest... rest) noexcept
{
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return refuse(win);
    }
    if (notification && *notification < 0) {
        return host::mpi::answer_window(Status::rma_notification, win);
    }
    const ActiveArguments arguments{
        .input = {input, input_count, input_type, target_input_type},
        .output = {output, output_count, output_type, target_output_type},
        .segments = segments,
        .target = target,
        .displacement = displacement,
        .count = count,
        .type = type,
        .op = op,
        .notification = notification.value_or(-1)};
    if (!notification) {
        return issue(*object, arguments, rest...);
    }
    const TracedCall traced(trace::CallKind::notify, false, win, target, from);
    return traced.left(issue(*object, arguments, rest...));
}

/// Says by an error what nobody may do with it.
void no_reduction(void* /*in*/, void* /*inout*/, int* /*count*/, MPI_Datatype* /*type*/)
{
    log(LogLevel::error, "an operation of active messages is no reduction");
}

int create(void* function, HandlerForm form, MPI_Op* op) noexcept
{
    if (!host::mpi::fits_host()) {
        return MPI_ERR_OTHER;
    }
    if (function == nullptr || op == nullptr) {
        return host::mpi::answer(Status::argument);
    }
    MPI_Op made = MPI_OP_NULL;
    if (const int code = host::mpi::table().Op_create(no_reduction, 0, &made);
        code != MPI_SUCCESS) {
        return code;
    }
    try {
        active_operations::add(made, {.function = function, .form = form, .name = {}});
        host::tell_crashes(HandlerCaller::running);
    } catch (const std::bad_alloc&) {
        host::mpi::table().Op_free(&made);
        return host::mpi::answer(Status::no_memory);
    }
    *op = made;
    return MPI_SUCCESS;
}

void create_for_fortran(void (*function)(), HandlerForm form, MPI_Fint* op,
                        MPI_Fint* error) noexcept
{
    MPI_Op made = MPI_OP_NULL;
    const int code = create(reinterpret_cast<void*>(function), form, &made);
    return_to_fortran(code, made, op, error);
}

/// Takes the next number in any case, so that all members count alike. Nobody sends a message with
/// it before all have it.
int register_operation(const WindowObject& object, MPI_Op op) noexcept
{
    if (HandlerCaller::inside()) {
        return host::mpi::answer_window(Status::unsupported, object.handle);
    }
    const std::shared_ptr<const ActiveOperation> operation = active_operations::find(op);
    Status status = operation != nullptr ? Status::ok : Status::op;
    WindowBody& body = *object.body;
    ++body.registrations;
    try {
        learn_type_codes();
        const EngineToken token(Runtime::existing()->engine());
        auto& handlers = object.window->parts().active.handlers;
        handlers.resize(body.registrations);
        body.registered.resize(body.registrations);
        handlers.back() = operation.get();
        body.registered.back() = operation;
        active_operations::note_change();
    } catch (const std::bad_alloc&) {
        status = Status::no_memory;
    }
    const int code = Runtime::existing()->blocking(object, [&](rma::Request* request) {
        return object.window->parts().synchronization.meet(request);
    });
    return status == Status::ok ? code : host::mpi::answer_window(status, object.handle);
}

int attach(const WindowObject& object, void* buffer, MPI_Aint size) noexcept
{
    Status status = size < 0 ? Status::size : buffer == nullptr ? Status::buffer : Status::ok;
    if (status == Status::ok) {
        const EngineToken token(Runtime::existing()->engine());
        status = object.window->parts().active.target.attach(static_cast<std::byte*>(buffer),
                                                             static_cast<std::size_t>(size));
    }
    return host::mpi::answer_window(status, object.handle);
}

int detach(const WindowObject& object) noexcept
{
    if (HandlerCaller::inside()) {
        return host::mpi::answer_window(Status::unsupported, object.handle);
    }
    Runtime& runtime = *Runtime::existing();
    rma::ActiveTarget& target = object.window->parts().active.target;
    Status status = Status::ok;
    {
        const EngineToken token(runtime.engine());
        status = target.begin_detach();
    }
    if (status == Status::ok) {
        runtime.waiting().until([&] { return target.end_detach(); });
    }
    return host::mpi::answer_window(status, object.handle);
}

/// What is there for the parent of a memory handle's window alone.
template <class Call>
int with_window(MPI_Win win, Call call) noexcept
{
    const WindowObject* object = window_table::find(win);
    if (object != nullptr && object->region != nullptr) {
        return host::mpi::answer_window(Status::rma_sync, win);
    }
    return object != nullptr ? call(*object) : refuse(win);
}

} // namespace

SIDELIGHT_OWN int own_Op_free(MPI_Op* op)
{
    if (op != nullptr) {
        active_operations::remove(*op);
    }
    return host::mpi::table().Op_free(op);
}

SIDELIGHT_ENTRY int MPIX_Am_op_create(MPIX_Am_user_function* function, MPI_Op* am_op)
{
    return create(reinterpret_cast<void*>(function), HandlerForm::plain, am_op);
}
SIDELIGHT_PROFILED(Am_op_create)
SIDELIGHT_ENTRY int MPIX_Am_op_create_c(MPIX_Am_user_function_c* function, MPI_Op* am_op)
{
    return create(reinterpret_cast<void*>(function), HandlerForm::large, am_op);
}
SIDELIGHT_PROFILED(Am_op_create_c)
SIDELIGHT_ENTRY int MPIX_Am_win_op_register(MPI_Op am_op, MPI_Win win)
{
    return with_window(
        win, [&](const WindowObject& object) { return register_operation(object, am_op); });
}
SIDELIGHT_PROFILED(Am_win_op_register)
SIDELIGHT_ENTRY int MPIX_Am_win_buffer_attach(void* buffer, MPI_Aint size, MPI_Win win)
{
    return with_window(win,
                       [&](const WindowObject& object) { return attach(object, buffer, size); });
}
SIDELIGHT_PROFILED(Am_win_buffer_attach)
SIDELIGHT_ENTRY int MPIX_Am_win_buffer_detach(MPI_Win win) { return with_window(win, detach); }
SIDELIGHT_PROFILED(Am_win_buffer_detach)

#define SIDELIGHT_ACTIVE_PARAMETERS(row, Count)                                                    \
    row(const void*, input) row(Count, input_count) row(MPI_Datatype, input_type)                  \
        row(void*, output) row(Count, output_count) row(MPI_Datatype, output_type)                 \
            row(Count, segments) row(int, target) row(MPI_Datatype, target_input_type)             \
                row(MPI_Aint, displacement) row(Count, count) row(MPI_Datatype, type)              \
                    row(MPI_Datatype, target_output_type) row(MPI_Op, op)

// Of the forms without and with a notification, which is what a trace knows.
#define SIDELIGHT_PLAIN(row)
#define SIDELIGHT_PLAIN_FROM nullptr
#define SIDELIGHT_NOTIFIED(row) row(int, notification)
#define SIDELIGHT_NOTIFIED_FROM __builtin_return_address(0)

#define SIDELIGHT_ACTIVE(name, request_name, fortran, request_fortran, Count, notified)            \
    SIDELIGHT_ENTRY int name(SIDELIGHT_ACTIVE_PARAMETERS(SIDELIGHT_DECLARE, Count)                 \
                                 notified(SIDELIGHT_DECLARE) MPI_Win win)                          \
    {                                                                                              \
        return start<Count>(notified##_FROM,                                                       \
                            SIDELIGHT_ACTIVE_PARAMETERS(SIDELIGHT_PASS, Count)                     \
                                std::optional<int>{notified(SIDELIGHT_PASS)},                      \
                            win);                                                                  \
    }                                                                                              \
    SIDELIGHT_ENTRY int request_name(SIDELIGHT_ACTIVE_PARAMETERS(SIDELIGHT_DECLARE, Count)         \
                                         notified(SIDELIGHT_DECLARE) MPI_Win win,                  \
                                     MPI_Request* request)                                         \
    {                                                                                              \
        return start<Count>(notified##_FROM,                                                       \
                            SIDELIGHT_ACTIVE_PARAMETERS(SIDELIGHT_PASS, Count)                     \
                                std::optional<int>{notified(SIDELIGHT_PASS)},                      \
                            win, request);                                                         \
    }                                                                                              \
    SIDELIGHT_ENTRY void mpix_##fortran(                                                           \
        SIDELIGHT_ACTIVE_PARAMETERS(SIDELIGHT_DECLARE_FORTRAN, Count)                              \
            notified(SIDELIGHT_DECLARE_FORTRAN) FortranArgument<MPI_Win>                           \
                win,                                                                               \
        MPI_Fint* error)                                                                           \
    {                                                                                              \
        const int code = start<Count>(notified##_FROM,                                             \
                                      SIDELIGHT_ACTIVE_PARAMETERS(SIDELIGHT_CONVERT, Count)        \
                                          std::optional<int>{notified(SIDELIGHT_CONVERT)},         \
                                      from_fortran<MPI_Win>(win));                                 \
        return_to_fortran(code, error);                                                            \
    }                                                                                              \
    SIDELIGHT_ENTRY void mpix_##request_fortran(                                                   \
        SIDELIGHT_ACTIVE_PARAMETERS(SIDELIGHT_DECLARE_FORTRAN, Count)                              \
            notified(SIDELIGHT_DECLARE_FORTRAN) FortranArgument<MPI_Win>                           \
                win,                                                                               \
        MPI_Fint* request, MPI_Fint* error)                                                        \
    {                                                                                              \
        MPI_Request started = MPI_REQUEST_NULL;                                                    \
        const int code = start<Count>(notified##_FROM,                                             \
                                      SIDELIGHT_ACTIVE_PARAMETERS(SIDELIGHT_CONVERT, Count)        \
                                          std::optional<int>{notified(SIDELIGHT_CONVERT)},         \
                                      from_fortran<MPI_Win>(win), &started);                       \
        return_to_fortran(code, started, request, error);                                          \
    }                                                                                              \
    SIDELIGHT_PROFILED_FORTRAN(fortran)                                                            \
    SIDELIGHT_PROFILED_FORTRAN(request_fortran)
SIDELIGHT_ACTIVE(MPIX_Am, MPIX_Ram, am_, ram_, int, SIDELIGHT_PLAIN)
SIDELIGHT_ACTIVE(MPIX_Am_c, MPIX_Ram_c, am_c_, ram_c_, MPI_Count, SIDELIGHT_PLAIN)
SIDELIGHT_ACTIVE(MPIX_Am_notify, MPIX_Ram_notify, am_notify_, ram_notify_, int, SIDELIGHT_NOTIFIED)
SIDELIGHT_ACTIVE(MPIX_Am_notify_c, MPIX_Ram_notify_c, am_notify_c_, ram_notify_c_, MPI_Count,
                 SIDELIGHT_NOTIFIED)
SIDELIGHT_PROFILED(Am)
SIDELIGHT_PROFILED(Am_c)
SIDELIGHT_PROFILED(Ram)
SIDELIGHT_PROFILED(Ram_c)
SIDELIGHT_PROFILED(Am_notify)
SIDELIGHT_PROFILED(Am_notify_c)
SIDELIGHT_PROFILED(Ram_notify)
SIDELIGHT_PROFILED(Ram_notify_c)

// The others for Fortran, as in nonblocking.cpp.

SIDELIGHT_ENTRY void mpix_am_op_create_(void (*function)(), MPI_Fint* am_op, MPI_Fint* error)
{
    create_for_fortran(function, HandlerForm::fortran, am_op, error);
}
SIDELIGHT_PROFILED_FORTRAN(am_op_create_)
SIDELIGHT_ENTRY void mpix_am_op_create_c_(void (*function)(), MPI_Fint* am_op, MPI_Fint* error)
{
    create_for_fortran(function, HandlerForm::large_fortran, am_op, error);
}
SIDELIGHT_PROFILED_FORTRAN(am_op_create_c_)
SIDELIGHT_ENTRY void mpix_am_win_op_register_(FortranArgument<MPI_Op> am_op,
                                              FortranArgument<MPI_Win> win, MPI_Fint* error)
{
    return_to_fortran(
        MPIX_Am_win_op_register(from_fortran<MPI_Op>(am_op), from_fortran<MPI_Win>(win)), error);
}
SIDELIGHT_PROFILED_FORTRAN(am_win_op_register_)
SIDELIGHT_ENTRY void mpix_am_win_buffer_attach_(void* buffer, const MPI_Aint* size,
                                                FortranArgument<MPI_Win> win, MPI_Fint* error)
{
    return_to_fortran(MPIX_Am_win_buffer_attach(buffer, *size, from_fortran<MPI_Win>(win)), error);
}
SIDELIGHT_PROFILED_FORTRAN(am_win_buffer_attach_)
SIDELIGHT_ENTRY void mpix_am_win_buffer_detach_(FortranArgument<MPI_Win> win, MPI_Fint* error)
{
    return_to_fortran(MPIX_Am_win_buffer_detach(from_fortran<MPI_Win>(win)), error);
}
SIDELIGHT_PROFILED_FORTRAN(am_win_buffer_detach_)
