// SPDX-License-Identifier: BSD-3-Clause
#include <exception>
#include <new>

#include "api/entry.hpp"
#include "api/pass_through.hpp"
#include "api/traced_call.hpp"
#include "base/log.hpp"
#include "host/mpi/table.hpp"
#include "runtime/attached_memory.hpp"
#include "runtime/attribute_keys.hpp"
#include "runtime/memory_handles.hpp"
#include "runtime/runtime.hpp"
#include "runtime/window_create.hpp"
#include "runtime/window_duplicate.hpp"

/// Making and freeing windows (MPI-4.1, 12.2).
namespace sidelight::api {

using namespace runtime;

namespace {

using host::mpi::table;

/// The guard between C++ and C, and the choice between us and the host. `host_call` makes the
/// window where we do not. What the communicator's error handler throws leaves the call.
template <class HostCall>
int make(const WindowRequest& request, MPI_Win* win, void* baseptr, HostCall host_call)
{
    Status refused = Status::ok;
    try {
        const NewWindow made = create_window(request);
        refused = made.refused;
        if (const WindowObject* object = made.object; object != nullptr) {
            *win = object->handle;
            if (baseptr != nullptr) {
                *static_cast<void**>(baseptr) = object->body->attributes.base;
            }
            return MPI_SUCCESS;
        }
    } catch (const std::bad_alloc&) {
        refused = Status::no_memory;
    } catch (const std::exception& error) {
        log(LogLevel::error, "no window: %s", error.what());
        refused = Status::other;
    }
    if (refused != Status::ok) {
        return host::mpi::answer_comm(refused, request.comm);
    }
    const int code = host_call();
    if (code == MPI_SUCCESS) {
        window_table::forget_freed(*win);
    }
    return code;
}

} // namespace

} // namespace sidelight::api

using namespace sidelight;
using namespace sidelight::api;
using namespace sidelight::runtime;

SIDELIGHT_OWN int own_Win_create(void* base, MPI_Aint size, int disp_unit, MPI_Info info,
                                 MPI_Comm comm, MPI_Win* win)
{
    return make({rma::Flavor::create, size, disp_unit, info, comm, base, win != nullptr}, win,
                nullptr,
                [&] { return table().Win_create(base, size, disp_unit, info, comm, win); });
}

SIDELIGHT_OWN int own_Win_create_c(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
                                   MPI_Comm comm, MPI_Win* win)
{
    return make({rma::Flavor::create, size, disp_unit, info, comm, base, win != nullptr}, win,
                nullptr,
                [&] { return table().Win_create_c(base, size, disp_unit, info, comm, win); });
}

SIDELIGHT_OWN int own_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                                   void* baseptr, MPI_Win* win)
{
    return make({rma::Flavor::allocate, size, disp_unit, info, comm, nullptr,
                 win != nullptr && baseptr != nullptr},
                win, baseptr,
                [&] { return table().Win_allocate(size, disp_unit, info, comm, baseptr, win); });
}

SIDELIGHT_OWN int own_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
                                     MPI_Comm comm, void* baseptr, MPI_Win* win)
{
    return make({rma::Flavor::allocate, size, disp_unit, info, comm, nullptr,
                 win != nullptr && baseptr != nullptr},
                win, baseptr,
                [&] { return table().Win_allocate_c(size, disp_unit, info, comm, baseptr, win); });
}

SIDELIGHT_OWN int own_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info,
                                          MPI_Comm comm, void* baseptr, MPI_Win* win)
{
    return make({rma::Flavor::shared, size, disp_unit, info, comm, nullptr,
                 win != nullptr && baseptr != nullptr},
                win, baseptr, [&] {
                    return table().Win_allocate_shared(size, disp_unit, info, comm, baseptr, win);
                });
}

SIDELIGHT_OWN int own_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
                                            MPI_Comm comm, void* baseptr, MPI_Win* win)
{
    return make({rma::Flavor::shared, size, disp_unit, info, comm, nullptr,
                 win != nullptr && baseptr != nullptr},
                win, baseptr, [&] {
                    return table().Win_allocate_shared_c(size, disp_unit, info, comm, baseptr, win);
                });
}

SIDELIGHT_OWN int own_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win)
{
    return make({rma::Flavor::dynamic, 0, 1, info, comm, nullptr, win != nullptr}, win, nullptr,
                [&] { return table().Win_create_dynamic(info, comm, win); });
}

SIDELIGHT_OWN int own_Win_attach(MPI_Win win, void* base, MPI_Aint size)
{
    WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_through(win, [&] { return table().Win_attach(win, base, size); });
    }
    const Status status =
        object->region == nullptr ? attach(*object, base, size) : Status::rma_flavor;
    return host::mpi::answer_window(status, win);
}

SIDELIGHT_OWN int own_Win_detach(MPI_Win win, const void* base)
{
    WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_through(win, [&] { return table().Win_detach(win, base); });
    }
    const Status status = object->region == nullptr ? detach(*object, base) : Status::rma_flavor;
    return host::mpi::answer_window(status, win);
}

/// Collective, and a barrier; of a duplicate neither. The attributes' delete callbacks run while
/// the window still answers. Where a member is lost it tells that, and frees the window
/// nevertheless.
SIDELIGHT_OWN int own_Win_free(MPI_Win* win)
{
    if (win == nullptr) {
        return host::mpi::answer(Status::argument);
    }
    WindowObject* object = window_table::find_to_free(*win);
    if (object == nullptr) {
        return pass_through(*win, [&] { return table().Win_free(win); });
    }
    if (object->region != nullptr) {
        return free_handle_window(*object, win);
    }
    if (object->duplicate) {
        return free_duplicate(*object, win);
    }
    int code = MPI_SUCCESS;
    const std::uint64_t life = object->life.load(std::memory_order_relaxed);
    if (!object->window->closed()) { // else a delete callback has refused before
        const TracedCall traced(trace::CallKind::free, false, *win, -1,
                                __builtin_return_address(0));
        code = traced.left(Runtime::existing()->blocking(
            *object, [&](rma::Request* request) { return object->window->close(request); }));
        if (object->life.load(std::memory_order_relaxed) !=
            life) { // the error handler has freed it
            *win = MPI_WIN_NULL;
            return code;
        }
        if (!object->window->closed()) {
            return code;
        }
    }
    if (const int freed = attribute_keys::free_handle(*object, win); freed != MPI_SUCCESS) {
        return freed;
    }
    discard_window(*object);
    return code;
}
