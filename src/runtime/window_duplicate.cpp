// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/window_duplicate.hpp"

#include <new>
#include <utility>

#include "host/mpi/handle.hpp"
#include "host/mpi/table.hpp"
#include "runtime/attribute_keys.hpp"
#include "runtime/life.hpp"
#include "runtime/runtime.hpp"
#include "runtime/window_table.hpp"

namespace sidelight::runtime {

namespace {

using host::mpi::table;

/// Makes its handle, by which it is found from then on.
Status name(WindowObject& object) noexcept
{
    const Status status =
        host::mpi::create_handle(object.body->group, object.window->rank(), &object.handle);
    if (status != Status::ok) {
        return status;
    }
    lend_communicator();
    try {
        window_table::insert(object);
    } catch (const std::bad_alloc&) {
        static_cast<void>(host::mpi::destroy_handle(&object.handle));
        return Status::no_memory;
    }
    return Status::ok;
}

} // namespace

WindowObject& prepare_handle(const WindowObject& parent, MPI_Info info)
{
    WindowInfo keys = info_in_force(parent);
    keys.update(info, KeyScope::handle);
    WindowObject& object = window_table::take();
    object.window = parent.window;
    object.body = parent.body;
    window_table::take_over(object, std::move(keys));
    object.duplicate = true;
    return object;
}

int inherit_error_handler(const WindowObject& parent, const WindowObject& object) noexcept
{
    MPI_Errhandler handler{};
    int code = table().Win_get_errhandler(parent.handle, &handler);
    if (code == MPI_SUCCESS) {
        code = table().Win_set_errhandler(object.handle, handler);
        table().Errhandler_free(&handler);
    }
    return code;
}

/// Parts of it are the original's, which another thread may be about to change.
WindowInfo info_in_force(const WindowObject& object)
{
    const EngineToken token(Runtime::existing()->engine());
    WindowInfo found = object.info;
    found.share(object.body->original->info);
    return found;
}

Status duplicate_window(const WindowObject& parent, MPI_Info info, MPI_Win* handle) noexcept
{
    WindowObject* object = nullptr;
    try {
        object = &prepare_handle(parent, info);
    } catch (const std::bad_alloc&) {
        return Status::no_memory;
    }
    if (const Status status = name(*object); status != Status::ok) {
        window_table::give_back(*object);
        return status;
    }
    if (inherit_error_handler(parent, *object) != MPI_SUCCESS ||
        attribute_keys::copy(parent, *object) != MPI_SUCCESS) {
        MPI_Win unwanted = object->handle;
        static_cast<void>(free_duplicate(*object, &unwanted));
        return Status::other;
    }
    *handle = object->handle;
    return Status::ok;
}

int free_duplicate(WindowObject& object, MPI_Win* handle) noexcept
{
    if (const int code = attribute_keys::free_handle(object, handle); code != MPI_SUCCESS) {
        return code;
    }
    window_table::remove(object);
    window_table::give_back(object);
    return MPI_SUCCESS;
}

} // namespace sidelight::runtime
