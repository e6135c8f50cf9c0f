// SPDX-License-Identifier: BSD-3-Clause
#include <sidelight.h>

#include "api/entry.hpp"
#include "api/pass_through.hpp"
#include "api/synchronization_call.hpp"
#include "host/mpi/exposure_request.hpp"
#include "host/mpi/handle.hpp"
#include "host/mpi/table.hpp"
#include "runtime/runtime.hpp"

/// The nonblocking synchronisation calls of P1, section V. What they promise: include/sidelight.h.
/// On windows of the host, an opening call is the host's own, complete when it returns. Closing
/// calls and flushes the host cannot do without blocking.
using namespace sidelight;
using namespace sidelight::api;
using namespace sidelight::runtime;
using host::mpi::table;
using rma::FlushScope;

namespace {

/// One call, on our window by `call`, on any other by the host.
template <class Call, class HostCall>
int begin(MPI_Win win, MPI_Request* request, Call call, HostCall host_call) noexcept
{
    WindowObject* object = window_table::find(win);
    if (object == nullptr) [[unlikely]] {
        return pass_through(win, host_call);
    }
    return Runtime::existing()->nonblocking(
        *object, request, [&](Request* engine_side) { return call(*object, engine_side); });
}

/// A call that opens an epoch on a window of the host.
template <class HostCall>
int open_on_host(MPI_Win win, MPI_Request* request, HostCall host_call) noexcept
{
    const int code = host_call();
    if (code != MPI_SUCCESS) {
        return code;
    }
    const Status status =
        host::mpi::create_completed_request(host::mpi::own_communicator(MPI_COMM_NULL), request);
    return status == Status::ok ? MPI_SUCCESS : host::mpi::answer_window(status, win);
}

int refuse(MPI_Win win) noexcept { return host::mpi::answer_window(Status::unsupported, win); }

} // namespace

SIDELIGHT_ENTRY int MPIX_Win_ifence(int assertion, MPI_Win win, MPI_Request* request)
{
    return begin(
        win, request,
        [&](WindowObject& object, Request* engine_side) {
            return api::fence(object, assertion, engine_side);
        },
        [&] { return refuse(win); });
}

SIDELIGHT_ENTRY int MPIX_Win_ipost(MPI_Group group, int assertion, MPI_Win win,
                                   MPI_Request* request)
{
    return begin(
        win, request,
        [&](WindowObject& object, Request* engine_side) {
            return api::post(object, group, assertion, engine_side);
        },
        [&] {
            return open_on_host(win, request,
                                [&] { return table().Win_post(group, assertion, win); });
        });
}

SIDELIGHT_ENTRY int MPIX_Win_istart(MPI_Group group, int assertion, MPI_Win win,
                                    MPI_Request* request)
{
    return begin(
        win, request,
        [&](WindowObject& object, Request* engine_side) {
            return api::start(object, group, assertion, engine_side);
        },
        [&] {
            return open_on_host(win, request,
                                [&] { return table().Win_start(group, assertion, win); });
        });
}

SIDELIGHT_ENTRY int MPIX_Win_icomplete(MPI_Win win, MPI_Request* request)
{
    return begin(
        win, request,
        [](WindowObject& object, Request* engine_side) {
            return object.window->complete(engine_side);
        },
        [&] { return refuse(win); });
}

SIDELIGHT_ENTRY int MPIX_Win_iwait(MPI_Win win, MPI_Request* request)
{
    return begin(
        win, request,
        [](WindowObject& object, Request* engine_side) { return object.window->wait(engine_side); },
        [&] { return host::mpi::create_exposure_request(win, request); });
}

SIDELIGHT_ENTRY int MPIX_Win_ilock(int lock_type, int rank, int assertion, MPI_Win win,
                                   MPI_Request* request)
{
    return begin(
        win, request,
        [&](WindowObject& object, Request* engine_side) {
            return api::lock(object, lock_type, rank, assertion, engine_side);
        },
        [&] {
            return open_on_host(win, request,
                                [&] { return table().Win_lock(lock_type, rank, assertion, win); });
        });
}

SIDELIGHT_ENTRY int MPIX_Win_iunlock(int rank, MPI_Win win, MPI_Request* request)
{
    return begin(
        win, request,
        [&](WindowObject& object, Request* engine_side) {
            return api::unlock(object, rank, engine_side);
        },
        [&] { return refuse(win); });
}

SIDELIGHT_ENTRY int MPIX_Win_ilock_all(int assertion, MPI_Win win, MPI_Request* request)
{
    return begin(
        win, request,
        [&](WindowObject& object, Request* engine_side) {
            return api::lock_all(object, assertion, engine_side);
        },
        [&] {
            return open_on_host(win, request, [&] { return table().Win_lock_all(assertion, win); });
        });
}

SIDELIGHT_ENTRY int MPIX_Win_iunlock_all(MPI_Win win, MPI_Request* request)
{
    return begin(
        win, request,
        [](WindowObject& object, Request* engine_side) {
            return object.window->unlock_all(engine_side);
        },
        [&] { return refuse(win); });
}

SIDELIGHT_ENTRY int MPIX_Win_iflush(int rank, MPI_Win win, MPI_Request* request)
{
    return begin(
        win, request,
        [&](WindowObject& object, Request* engine_side) {
            return api::flush(object, rank, FlushScope::remote, engine_side);
        },
        [&] { return refuse(win); });
}

SIDELIGHT_ENTRY int MPIX_Win_iflush_local(int rank, MPI_Win win, MPI_Request* request)
{
    return begin(
        win, request,
        [&](WindowObject& object, Request* engine_side) {
            return api::flush(object, rank, FlushScope::local, engine_side);
        },
        [&] { return refuse(win); });
}

SIDELIGHT_ENTRY int MPIX_Win_iflush_all(MPI_Win win, MPI_Request* request)
{
    return begin(
        win, request,
        [](WindowObject& object, Request* engine_side) {
            return api::flush_all(object, FlushScope::remote, engine_side);
        },
        [&] { return refuse(win); });
}

SIDELIGHT_ENTRY int MPIX_Win_iflush_local_all(MPI_Win win, MPI_Request* request)
{
    return begin(
        win, request,
        [](WindowObject& object, Request* engine_side) {
            return api::flush_all(object, FlushScope::local, engine_side);
        },
        [&] { return refuse(win); });
}
