// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/memory_handles.hpp"

#include <new>
#include <optional>
#include <utility>

#include "host/mpi/handle.hpp"
#include "host/mpi/table.hpp"
#include "rma/engine/window_parts.hpp"
#include "runtime/attribute_keys.hpp"
#include "runtime/life.hpp"
#include "runtime/runtime.hpp"
#include "runtime/window_create.hpp"
#include "runtime/window_duplicate.hpp"
#include "runtime/window_table.hpp"

namespace sidelight::runtime {

namespace {

using rma::MemoryHandle;

bool is_dynamic(const WindowObject& object) noexcept
{
    return object.region == nullptr && object.window->flavor() == rma::Flavor::dynamic;
}

/// Where others on the node find the memory, as for MPI_Win_attach.
host::memory::SharedRange share_exposed(WindowObject& parent, const MemoryHandle& handle,
                                        MPI_Info info)
{
    if (handle.size == 0 || parent.body->members->neighbours().size() < 2) {
        return {};
    }
    const auto* base = reinterpret_cast<const void*>(handle.base);
    if (info == MPI_INFO_NULL) {
        return share_brought(parent, base, handle.size);
    }
    WindowInfo keys = info_in_force(parent);
    keys.update(info, KeyScope::handle);
    return host::memory::share(base, handle.size, keys.share_policy());
}

Status expose(WindowObject& parent, MemoryHandle& handle, host::memory::SharedRange range)
{
    const auto where = range ? std::optional(range.where()) : std::nullopt;
    const EngineToken token(Runtime::existing()->engine());
    auto kept = decltype(parent.body->exposed)::node_type();
    {
        decltype(parent.body->exposed) room; // so that nothing fails later
        room.emplace(handle.region, std::move(range));
        kept = room.extract(room.begin());
    }
    const Status status = parent.window->parts().regions.expose(
        reinterpret_cast<std::byte*>(handle.base), handle.size, where,
        where && kept.mapped().lasts(), handle.region);
    if (status == Status::ok) {
        kept.key() = handle.region;
        parent.body->exposed.insert(std::move(kept));
    }
    return status;
}

/// What can be told of the arguments without the engine.
Status check(const WindowObject& parent, const MemoryHandle& handle,
             const HandleWindowRequest& request) noexcept
{
    if (!is_dynamic(parent)) {
        return Status::rma_flavor;
    }
    if (handle.window != parent.window->id()) {
        return Status::argument;
    }
    if (request.target < 0 || request.target >= parent.window->size() ||
        request.target != handle.rank) {
        return Status::rank;
    }
    if (request.size < 0 || static_cast<std::uint64_t>(request.size) > handle.size) {
        return Status::size;
    }
    return request.disp_unit > 0 ? Status::ok : Status::disp;
}

/// Makes the MPI_Win that it is found by.
Status name(WindowObject& object, const WindowObject& parent) noexcept
{
    Status status =
        host::mpi::take_handle(object.body->group, object.window->rank(), &object.handle);
    if (status != Status::ok) {
        return status;
    }
    lend_communicator();
    try {
        if (inherit_error_handler(parent, object) != MPI_SUCCESS) {
            status = Status::other;
        } else {
            window_table::insert(object);
        }
    } catch (const std::bad_alloc&) {
        status = Status::no_memory;
    }
    if (status != Status::ok) {
        static_cast<void>(host::mpi::destroy_handle(&object.handle));
    }
    return status;
}

void describe_to_mpi(WindowObject& object, const MemoryHandle& handle,
                     const HandleWindowRequest& request) noexcept
{
    const bool own = request.target == object.window->rank();
    object.region_attributes = {.base = own ? reinterpret_cast<void*>(handle.base) : nullptr,
                                .size = request.size,
                                .disp_unit = request.disp_unit,
                                .flavor = MPI_WIN_FLAVOR_CREATE};
}

void drop_region(WindowObject& object) noexcept
{
    const EngineToken token(Runtime::existing()->engine());
    rma::HandleRegions::drop(*std::exchange(object.region, nullptr));
}

} // namespace

Status create_memory_handle(WindowObject& parent, void* base, MPI_Aint size, MPI_Info info,
                            MemoryHandle& handle) noexcept
{
    if (!is_dynamic(parent)) {
        return Status::rma_flavor;
    }
    if (size < 0) {
        return Status::size;
    }
    if (base == nullptr && size != 0) {
        return Status::base;
    }
    handle = {.window = parent.window->id(),
              .base = reinterpret_cast<std::uint64_t>(base),
              .size = static_cast<std::uint64_t>(size),
              .rank = parent.window->rank()};
    try {
        return expose(parent, handle, share_exposed(parent, handle, info));
    } catch (const std::bad_alloc&) {
        return Status::no_memory;
    }
}

/// First nothing is let in any more, then it may become private again.
Status release_memory_handle(WindowObject& parent, const MemoryHandle& handle) noexcept
{
    if (!is_dynamic(parent)) {
        return Status::rma_flavor;
    }
    rma::Window& window = *parent.window;
    rma::HandleRegions& regions = window.parts().regions;
    if (handle.window != window.id() || handle.rank != window.rank()) {
        return Status::argument;
    }
    Runtime& runtime = *Runtime::existing();
    bool used = false;
    {
        const EngineToken token(runtime.engine());
        if (const Status status = regions.withdraw(handle.region); status != Status::ok) {
            return status;
        }
        used = regions.is_used(handle.region);
    }
    if (used) {
        runtime.waiting().until([&] { return !regions.is_used(handle.region); });
    }
    const EngineToken token(runtime.engine());
    parent.body->exposed.erase(handle.region);
    return Status::ok;
}

Status create_handle_window(const WindowObject& parent, const MemoryHandle& handle,
                            const HandleWindowRequest& request, MPI_Win* window) noexcept
{
    if (const Status status = check(parent, handle, request); status != Status::ok) {
        return status;
    }
    WindowObject* object = nullptr;
    try {
        object = &prepare_handle(parent, request.info);
    } catch (const std::bad_alloc&) {
        return Status::no_memory;
    }
    Status status = Status::ok;
    {
        const EngineToken token(Runtime::existing()->engine());
        rma::Window& engine_side = *object->window;
        status = engine_side.look_up(handle.rank) == nullptr
                     ? Status::no_memory
                     : engine_side.parts().regions.open(
                           {.name = handle.region,
                            .rank = handle.rank,
                            .first = handle.base,
                            .all_bytes = handle.size,
                            .size = static_cast<std::uint64_t>(request.size),
                            .disp_unit = request.disp_unit},
                           object->region_mapped, object->region);
    }
    if (status == Status::ok) {
        describe_to_mpi(*object, handle, request);
        status = name(*object, parent);
        if (status != Status::ok) {
            drop_region(*object);
        }
    }
    if (status != Status::ok) {
        window_table::give_back(*object);
        return status;
    }
    *window = object->handle;
    return Status::ok;
}

/// The host's window is kept for the next where nothing of the program's is left on it.
int free_handle_window(WindowObject& object, MPI_Win* window) noexcept
{
    const bool keeps = object.keeps_handle && object.attribute_keys.empty();
    if (keeps) {
        window_table::retire(object);
    } else if (const int code = attribute_keys::free_handle(object, window); code != MPI_SUCCESS) {
        return code;
    }
    window_table::remove(object);
    drop_region(object);
    window_table::give_back(object);
    if (keeps) {
        host::mpi::give_back_handle(window);
    }
    *window = MPI_WIN_NULL;
    return MPI_SUCCESS;
}

} // namespace sidelight::runtime
