// SPDX-License-Identifier: BSD-3-Clause
#include "api/window_query.hpp"

#include <limits>
#include <new>
#include <utility>

#include <sidelight.h>

#include "api/entry.hpp"
#include "api/pass_through.hpp"
#include "host/mpi/table.hpp"
#include "rma/engine/window_parts.hpp"
#include "rma/operation/notification_block.hpp"
#include "runtime/runtime.hpp"
#include "runtime/window_create.hpp"
#include "runtime/window_duplicate.hpp"

/// What a program may ask a window (MPI-4.1, 12.2.3, 12.2.6, 12.2.7). Names, attributes of the
/// user's and error handlers live on the handle: those calls reach the host untouched.
using namespace sidelight;
using namespace sidelight::api;
using namespace sidelight::runtime;
using host::mpi::table;

namespace {

struct SharedMemory {
    MPI_Aint size = 0;
    MPI_Aint disp_unit = 0;
    void* base = nullptr;
};

/// The memory of a member, as far as loads and stores reach it: no bytes, nowhere, if they do not.
/// Nowhere too if it has none, as the hosts say: programs look for it.
SharedMemory memory_of(const rma::Target& target) noexcept
{
    const bool any = target.mapped && target.size != 0;
    return {any ? static_cast<MPI_Aint>(target.size) : 0, static_cast<MPI_Aint>(target.disp_unit),
            any ? target.base : nullptr};
}

/// The first member that has memory, within reach or not; null if none has.
const rma::Target* first_with_memory(rma::Window& window) noexcept
{
    for (int rank = 0; rank < window.size(); ++rank) {
        const rma::Target* member = window.look_up(rank);
        if (member == nullptr || member->size != 0) {
            return member;
        }
    }
    return nullptr;
}

/// For MPI_PROC_NULL, that of the first member that has any.
Status query(WindowObject& object, int rank, SharedMemory& found) noexcept
{
    const EngineToken token(Runtime::existing()->engine());
    rma::Window& window = *object.window;
    if (window.flavor() == rma::Flavor::dynamic) {
        return Status::rma_flavor;
    }
    if (rank != MPI_PROC_NULL && (rank < 0 || rank >= window.size())) {
        return Status::rank;
    }
    const rma::Target* member =
        rank == MPI_PROC_NULL ? first_with_memory(window) : window.look_up(rank);
    found = member != nullptr ? memory_of(*member) : SharedMemory{};
    object.body->loads_and_stores.store(true, std::memory_order_relaxed);
    window.mapped().expect_untold();
    return Status::ok;
}

/// From now on opening calls wait until access is granted. Those before have not, so this one does
/// it for them.
void await_grants(const WindowObject& object) noexcept
{
    Runtime& runtime = *Runtime::existing();
    runtime.lock_order().settle();
    runtime.waiting().until(
        [&] { return !object.body->opened_ahead || object.window->parts().open.granted(); });
}

template <class DispUnit, class HostCall>
int shared_query(MPI_Win win, int rank, MPI_Aint* size, DispUnit* disp_unit, void* baseptr,
                 HostCall host_call) noexcept
{
    WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_through(win, host_call);
    }
    if (size == nullptr || disp_unit == nullptr || baseptr == nullptr) {
        return host::mpi::answer_window(Status::argument, win);
    }
    SharedMemory found;
    if (Status status = query(*object, rank, found); status != Status::ok) {
        return host::mpi::answer_window(status, win);
    }
    if (!std::in_range<DispUnit>(found.disp_unit)) {
        return host::mpi::answer_window(Status::unsupported, win);
    }
    await_grants(*object);
    *size = found.size;
    *disp_unit = static_cast<DispUnit>(found.disp_unit);
    *static_cast<void**>(baseptr) = found.base;
    return MPI_SUCCESS;
}

/// The keys of include/sidelight_notify.h are odd: those of Fortran may be one less here.
std::optional<PredefinedAttribute> notification_bound(int keyval) noexcept
{
    static int few = rma::NotificationBlock::few;
    static int most = rma::NotificationBlock::most;
    static MPI_Count highest = std::numeric_limits<std::int64_t>::max();
    switch (keyval | 1) {
    case MPI_WIN_NOTIFICATION_NUM_SB:
        return PredefinedAttribute{&few, few};
    case MPI_WIN_NOTIFICATION_NUM_UB:
        return PredefinedAttribute{&most, most};
    case MPI_WIN_NOTIFICATION_VALUE_UB:
        return PredefinedAttribute{&highest, static_cast<MPI_Aint>(highest)};
    default:
        return std::nullopt;
    }
}

template <class Number>
PredefinedAttribute number(Number& value) noexcept
{
    return {&value, value};
}

} // namespace

std::optional<PredefinedAttribute> sidelight::api::predefined_attribute(WindowObject& object,
                                                                        int keyval) noexcept
{
    static int model = MPI_WIN_UNIFIED;
    WindowAttributes& attributes =
        object.region != nullptr ? object.region_attributes : object.body->attributes;
    switch (keyval) {
    case MPI_WIN_BASE:
        return PredefinedAttribute{attributes.base, reinterpret_cast<MPI_Aint>(attributes.base)};
    case MPI_WIN_SIZE:
        return number(attributes.size);
    case MPI_WIN_DISP_UNIT:
        return number(attributes.disp_unit);
    case MPI_WIN_CREATE_FLAVOR:
        return number(attributes.flavor);
    case MPI_WIN_MODEL:
        return number(model);
    default:
        return notification_bound(keyval);
    }
}

bool sidelight::api::is_unknown_to_hosts(int keyval) noexcept
{
    return notification_bound(keyval).has_value();
}

SIDELIGHT_OWN int own_Win_shared_query(MPI_Win win, int rank, MPI_Aint* size, int* disp_unit,
                                       void* baseptr)
{
    return shared_query(win, rank, size, disp_unit, baseptr, [&] {
        return table().Win_shared_query(win, rank, size, disp_unit, baseptr);
    });
}

SIDELIGHT_OWN int own_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint* size, MPI_Aint* disp_unit,
                                         void* baseptr)
{
    return shared_query(win, rank, size, disp_unit, baseptr, [&] {
        return table().Win_shared_query_c(win, rank, size, disp_unit, baseptr);
    });
}

/// A group of the caller's own, to be freed by it. MPI_GROUP_EMPTY is of no session, and in MPICH a
/// union is of one.
SIDELIGHT_OWN int own_Win_get_group(MPI_Win win, MPI_Group* group)
{
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_through(win, [&] { return table().Win_get_group(win, group); });
    }
    if (group == nullptr) {
        return host::mpi::answer_window(Status::argument, win);
    }
    return table().Group_union(object->body->group, object->body->group, group);
}

/// By the numbers of Fortran, too, where they are others: bindings of profiling tools hand on the
/// key as it is, and hosts answer them with the value in place of its address.
SIDELIGHT_OWN int own_Win_get_attr(MPI_Win win, int keyval, void* attribute, int* flag)
{
    WindowObject* object = window_table::find(win);
    auto predefined = object == nullptr ? std::nullopt : predefined_attribute(*object, keyval);
    if (fortran_above_c != 0 && object != nullptr && !predefined) {
        predefined = predefined_attribute(*object, keyval - fortran_above_c);
        if (predefined) {
            predefined->address = reinterpret_cast<void*>(predefined->value);
        }
    }
    if (!predefined) {
        return pass_through(win, [&]() -> int {
            if (flag == nullptr || !is_unknown_to_hosts(keyval)) {
                return table().Win_get_attr(win, keyval, attribute, flag);
            }
            *flag = 0;
            return MPI_SUCCESS;
        });
    }
    if (attribute == nullptr || flag == nullptr) {
        return host::mpi::answer_window(Status::argument, win);
    }
    *static_cast<void**>(attribute) = predefined->address;
    *flag = 1;
    return MPI_SUCCESS;
}

/// Collective on the window itself, local on a duplicate. Changes to the reorder keys count from
/// the next epoch on, to mpi_win_order from the next operation on.
SIDELIGHT_OWN int own_Win_set_info(MPI_Win win, MPI_Info info)
{
    WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_through(win, [&] { return table().Win_set_info(win, info); });
    }
    if (!is_info(info)) {
        return host::mpi::answer_window(Status::info, win);
    }
    try {
        WindowInfo changed = info_in_force(*object);
        changed.update(info, object->duplicate ? KeyScope::handle : KeyScope::window);
        const EngineToken token(Runtime::existing()->engine());
        window_table::take_over(*object, std::move(changed));
        if (!object->duplicate) {
            object->window->set_reorder(object->info.reorder());
            apply_early_return(*object);
        }
    } catch (const std::bad_alloc&) {
        return host::mpi::answer_window(Status::no_memory, win);
    }
    return MPI_SUCCESS;
}

SIDELIGHT_OWN int own_Win_get_info(MPI_Win win, MPI_Info* info)
{
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_through(win, [&] { return table().Win_get_info(win, info); });
    }
    if (info == nullptr) {
        return host::mpi::answer_window(Status::argument, win);
    }
    try {
        return info_in_force(*object).create(info);
    } catch (const std::bad_alloc&) {
        return host::mpi::answer_window(Status::no_memory, win);
    }
}
