// SPDX-License-Identifier: BSD-3-Clause
#include <new>

#include "api/fortran_arguments.hpp"
#include "api/notification_names.hpp"
#include "api/pass_through.hpp"
#include "api/traced_call.hpp"
#include "base/cpu.hpp"
#include "base/last_access.hpp"
#include "rma/engine/window_parts.hpp"
#include "runtime/runtime.hpp"

/// The counters that notified operations raise (MPI-5.1, 12.6), and the request that waits for one
/// (P2, section IV).
using namespace sidelight;
using namespace sidelight::api;
using namespace sidelight::runtime;

namespace {

/// A barrier. `arrived`: whether this member has, whatever else there is to tell.
Status meet(const WindowObject& object, bool& arrived) noexcept
{
    return Runtime::existing()->perform(object, [&](rma::Request* request) {
        const Status status = object.window->parts().synchronization.meet(request);
        arrived = status == Status::ok;
        return status;
    });
}

/// What is wrong with the arguments of one member is its own affair: the others need it to take
/// part. Who keeps its own number does not answer for others.
Status set_own(const WindowObject& object, MPI_Info info, int number)
{
    rma::WindowParts& parts = object.window->parts();
    WindowInfo& keys = object.body->original->info;
    parts.notifications.forget();
    keys.note_notifications(MPI_INFO_NULL);
    if (number < 0 || static_cast<std::uint32_t>(number) > rma::NotificationBlock::most) {
        return Status::argument;
    }
    if (!is_info(info)) {
        return Status::info;
    }
    const Status status = parts.counters.set(static_cast<std::uint32_t>(number));
    if (status == Status::ok) {
        keys.note_notifications(info);
    }
    return status;
}

/// Nobody notifies the old counters any more after the first barrier, and nobody the new ones
/// before the second. Who has come to the first comes to both, for the others wait: what goes wrong
/// meanwhile, or has gone wrong in an epoch before, is told behind them.
int set_number(const WindowObject& object, MPI_Info info, int number) noexcept
{
    if (object.region != nullptr) { // the counters are the parent's
        return host::mpi::answer_window(Status::rma_flavor, object.handle);
    }
    bool arrived = false;
    const Status before = meet(object, arrived);
    if (!arrived) {
        return host::mpi::answer_window(before, object.handle);
    }
    Status status = Status::ok;
    try {
        const EngineToken token(Runtime::existing()->engine());
        status = set_own(object, info, number);
    } catch (const std::bad_alloc&) {
        status = Status::no_memory;
    }
    const Status behind = meet(object, arrived);
    if (behind == Status::ok) {
        const EngineToken token(Runtime::existing()->engine());
        object.window->parts().notifications.open_neighbours();
    }
    const Status first = before != Status::ok ? before : status;
    return host::mpi::answer_window(first != Status::ok ? first : behind, object.handle);
}

int get_number(const WindowObject& object, int rank, int* number) noexcept
{
    std::uint32_t found = 0;
    const int code = Runtime::existing()->blocking(object, [&](rma::Request* request) {
        const rma::Window& window = *object.window;
        const bool same =
            object.body->original->info.same_notifications() && rank >= 0 && rank < window.size();
        return object.window->parts().notifications.ask(same ? window.rank() : rank, &found,
                                                        request);
    });
    if (code == MPI_SUCCESS) {
        *number = static_cast<int>(found);
    }
    return code;
}

/// Before a look at what a program may ask for again and again, with no other call.
void let_come() noexcept
{
    Runtime& runtime = *Runtime::existing();
    if (runtime.engine().process().busy()) {
        runtime.waiting().sweep();
    }
    LastAccess::synchronized();
    Runtime::pass_by(); // who notifies may wait for something of the host's
}

int get_value(const WindowObject& object, int index, MPI_Count* value) noexcept
{
    if (HandlerCaller::inside()) [[unlikely]] {
        return host::mpi::answer_window(Status::unsupported, object.handle);
    }
    let_come();
    std::uint64_t found = 0;
    const Status status =
        object.window->parts().counters.value(static_cast<std::uint32_t>(index), found);
    full_barrier(); // as MPI_Win_sync
    if (status != Status::ok) [[unlikely]] {
        return host::mpi::answer_window(status, object.handle);
    }
    *value = static_cast<MPI_Count>(found);
    return MPI_SUCCESS;
}

/// In a trace, if there is one.
void note_counter(const WindowObject& object, trace::Event event, int index,
                  std::uint64_t value) noexcept
{
    const trace::Track& track = trace_of(*object.window);
    if (track) [[unlikely]] {
        track.note({.event = event, .epoch = static_cast<std::uint32_t>(index), .value = value});
    }
}

int reset_value(const WindowObject& object, int index, MPI_Count* value) noexcept
{
    if (HandlerCaller::inside()) {
        return host::mpi::answer_window(Status::unsupported, object.handle);
    }
    let_come();
    std::uint64_t found = 0;
    Status status = Status::ok;
    {
        const EngineToken token(Runtime::existing()->engine());
        status = object.window->parts().counters.reset(static_cast<std::uint32_t>(index), found);
    }
    full_barrier();
    if (status != Status::ok) {
        return host::mpi::answer_window(status, object.handle);
    }
    if (found != 0) {
        note_counter(object, trace::Event::counter_reset, index, found);
    }
    *value = static_cast<MPI_Count>(found);
    return MPI_SUCCESS;
}

/// On a window of ours, with a place for what is asked for.
template <class Answer, class Call>
int with_window(MPI_Win win, const Answer* answer, Call call) noexcept
{
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return refuse(win);
    }
    return answer != nullptr ? call(*object) : host::mpi::answer_window(Status::argument, win);
}

int set_number(const void* from, MPI_Win win, MPI_Info info, int number) noexcept
{
    const TracedCall traced(trace::CallKind::set_num_notify, false, win, -1, from);
    return traced.left(with_window(win, &number, [&](const WindowObject& object) {
        return set_number(object, info, number);
    }));
}

int get_number(MPI_Win win, int rank, int* number) noexcept
{
    return with_window(
        win, number, [&](const WindowObject& object) { return get_number(object, rank, number); });
}

int get_value(MPI_Win win, int index, MPI_Count* value) noexcept
{
    return with_window(win, value,
                       [&](const WindowObject& object) { return get_value(object, index, value); });
}

int reset_value(MPI_Win win, int index, MPI_Count* value) noexcept
{
    return with_window(
        win, value, [&](const WindowObject& object) { return reset_value(object, index, value); });
}

int await_threshold(const void* from, MPI_Win win, int index, MPI_Count expected,
                    MPI_Request* request) noexcept
{
    const TracedCall traced(trace::CallKind::notify_threshold, true, win, -1, from);
    return traced.left(with_window(win, request, [&](const WindowObject& object) {
        if (expected < 0) {
            return host::mpi::answer_window(Status::argument, win);
        }
        const auto await = [&](rma::Request* engine_side) {
            return object.window->parts().counters.await(static_cast<std::uint32_t>(index),
                                                         static_cast<std::uint64_t>(expected),
                                                         engine_side);
        };
        note_counter(object, trace::Event::counter_awaited, index,
                     static_cast<std::uint64_t>(expected));
        return Runtime::existing()->nonblocking(object, request, await,
                                                trace::RequestKind::notification);
    }));
}

} // namespace

SIDELIGHT_NOTIFICATION(Win_set_num_notify, MPI_Win win, MPI_Info info, int number)
{
    return set_number(__builtin_return_address(0), win, info, number);
}
SIDELIGHT_NOTIFICATION(Win_get_num_notify, MPI_Win win, int rank, int* number)
{
    return get_number(win, rank, number);
}
SIDELIGHT_NOTIFICATION(Win_get_notify_value, MPI_Win win, int index, MPI_Count* value)
{
    return get_value(win, index, value);
}
SIDELIGHT_NOTIFICATION(Win_reset_notify_value, MPI_Win win, int index, MPI_Count* value)
{
    return reset_value(win, index, value);
}
SIDELIGHT_ENTRY int MPIX_Win_notify_ithreshold(MPI_Win win, int index, MPI_Count expected,
                                               MPI_Request* request)
{
    return await_threshold(__builtin_return_address(0), win, index, expected, request);
}
SIDELIGHT_PROFILED(Win_notify_ithreshold)
SIDELIGHT_ENTRY int MPIX_Err_rma_notification() { return host::mpi::class_of_notification(); }
SIDELIGHT_PROFILED(Err_rma_notification)

// The same for Fortran, as in nonblocking.cpp.

SIDELIGHT_FORTRAN_NOTIFICATION(win_set_num_notify_, FortranArgument<MPI_Win> win,
                               FortranArgument<MPI_Info> info, const MPI_Fint* number,
                               MPI_Fint* error)
{
    return_to_fortran(set_number(__builtin_return_address(0), from_fortran<MPI_Win>(win),
                                 from_fortran<MPI_Info>(info), *number),
                      error);
}
SIDELIGHT_FORTRAN_NOTIFICATION(win_get_num_notify_, FortranArgument<MPI_Win> win,
                               const MPI_Fint* rank, MPI_Fint* number, MPI_Fint* error)
{
    return_to_fortran(get_number(from_fortran<MPI_Win>(win), *rank, number), error);
}
SIDELIGHT_FORTRAN_NOTIFICATION(win_get_notify_value_, FortranArgument<MPI_Win> win,
                               const MPI_Fint* index, MPI_Count* value, MPI_Fint* error)
{
    return_to_fortran(get_value(from_fortran<MPI_Win>(win), *index, value), error);
}
SIDELIGHT_FORTRAN_NOTIFICATION(win_reset_notify_value_, FortranArgument<MPI_Win> win,
                               const MPI_Fint* index, MPI_Count* value, MPI_Fint* error)
{
    return_to_fortran(reset_value(from_fortran<MPI_Win>(win), *index, value), error);
}
SIDELIGHT_ENTRY void mpix_win_notify_ithreshold_(FortranArgument<MPI_Win> win,
                                                 const MPI_Fint* index, const MPI_Count* expected,
                                                 MPI_Fint* request, MPI_Fint* error)
{
    MPI_Request started = MPI_REQUEST_NULL;
    const int code = await_threshold(__builtin_return_address(0), from_fortran<MPI_Win>(win),
                                     *index, *expected, &started);
    return_to_fortran(code, started, request, error);
}
SIDELIGHT_PROFILED_FORTRAN(win_notify_ithreshold_)
SIDELIGHT_ENTRY MPI_Fint mpix_err_rma_notification_() { return host::mpi::class_of_notification(); }
SIDELIGHT_PROFILED_FORTRAN(err_rma_notification_)
