// SPDX-License-Identifier: BSD-3-Clause
#include "api/synchronization_call.hpp"

#include "api/entry.hpp"
#include "api/pass_through.hpp"
#include "base/cpu.hpp"
#include "host/mpi/progress.hpp"
#include "host/mpi/table.hpp"
#include "rma/direct_path.hpp"
#include "runtime/runtime.hpp"

/// The blocking synchronisation calls (MPI-4.1, 12.5): the nonblocking ones, and a wait.
using namespace sidelight;
using namespace sidelight::api;
using namespace sidelight::runtime;
using host::mpi::table;
using rma::Direct;
using rma::FlushScope;
using rma::LightEpochs;

namespace {

/// One call, on our window by `call`, on any other by the host.
template <class Call, class HostCall>
int synchronize(MPI_Win win, Call call, HostCall host_call) noexcept
{
    WindowObject* object = window_table::find(win);
    if (object == nullptr) [[unlikely]] {
        return pass_through(win, host_call);
    }
    return Runtime::existing()->blocking(*object,
                                         [&](Request* request) { return call(*object, request); });
}

bool uses_loads_and_stores(const WindowObject& object) noexcept
{
    return object.loads_and_stores.load(std::memory_order_relaxed);
}

/// Whether a lock must be granted before the call returns: see Runtime::remember_lock.
bool waits_for_locks(const WindowObject& object) noexcept
{
    return Runtime::program_has_threads() || uses_loads_and_stores(object);
}

void settle_locks() noexcept
{
    if (Runtime* runtime = Runtime::existing(); runtime != nullptr) {
        runtime->settle_locks();
    }
}

/// The end of an opening call: goes on when access is granted, if it must be, because the program
/// may then use loads and stores of its own. Elsewhere an opening call does not wait.
Status end_opening(const WindowObject& object, Status opened, bool must_be_granted, int target,
                   Request* request) noexcept
{
    if (opened != Status::ok || !must_be_granted) {
        rma::finish(request);
        return opened;
    }
    return object.window->await_grant(target, request);
}

[[gnu::noinline]] int fence_slowly(int assertion, MPI_Win win) noexcept
{
    return synchronize(
        win,
        [&](WindowObject& object, Request* request) {
            return api::fence(object, assertion, request);
        },
        [&] { return table().Win_fence(assertion, win); });
}

/// Null where the engine must be held, or the window is not in the cache.
const WindowObject* find_for_light_epochs(MPI_Win win) noexcept
{
    return Runtime::threaded() ? nullptr
                               : static_cast<const WindowObject*>(window_table::find_key(win));
}

[[gnu::noinline]] int post_slowly(MPI_Group group, int assertion, MPI_Win win) noexcept
{
    return synchronize(
        win,
        [&](WindowObject& object, Request* request) {
            return api::post(object, group, assertion, request);
        },
        [&] { return table().Win_post(group, assertion, win); });
}

[[gnu::noinline]] int start_slowly(MPI_Group group, int assertion, MPI_Win win) noexcept
{
    return synchronize(
        win,
        [&](WindowObject& object, Request* request) {
            return end_opening(object, api::start(object, group, assertion, nullptr),
                               uses_loads_and_stores(object), rma::all_targets, request);
        },
        [&] { return table().Win_start(group, assertion, win); });
}

[[gnu::noinline]] int complete_slowly(MPI_Win win) noexcept
{
    return synchronize(
        win,
        [](WindowObject& object, Request* request) { return object.window->complete(request); },
        [&] { return table().Win_complete(win); });
}

[[gnu::noinline]] int wait_slowly(MPI_Win win) noexcept
{
    return synchronize(
        win, [](WindowObject& object, Request* request) { return object.window->wait(request); },
        [&] { return table().Win_wait(win); });
}

[[gnu::noinline]] int lock_slowly(int lock_type, int rank, int assertion, MPI_Win win) noexcept
{
    settle_locks();
    return synchronize(
        win,
        [&](WindowObject& object, Request* request) {
            const bool direct =
                rank == object.window->rank() || (rank != MPI_PROC_NULL && waits_for_locks(object));
            const Status opened = api::lock(object, lock_type, rank, assertion, nullptr);
            Runtime::existing()->remember_lock(object);
            return end_opening(object, opened, direct, rank, request);
        },
        [&] { return table().Win_lock(lock_type, rank, assertion, win); });
}

[[gnu::noinline]] int unlock_slowly(int rank, MPI_Win win) noexcept
{
    return synchronize(
        win,
        [&](WindowObject& object, Request* request) { return api::unlock(object, rank, request); },
        [&] { return table().Win_unlock(rank, win); });
}

[[gnu::noinline]] int flush_slowly(int rank, MPI_Win win) noexcept
{
    return synchronize(
        win,
        [&](WindowObject& object, Request* request) {
            return api::flush(object, rank, FlushScope::remote, request);
        },
        [&] { return table().Win_flush(rank, win); });
}

[[gnu::noinline]] int flush_local_slowly(int rank, MPI_Win win) noexcept
{
    return synchronize(
        win,
        [&](WindowObject& object, Request* request) {
            return api::flush(object, rank, FlushScope::local, request);
        },
        [&] { return table().Win_flush_local(rank, win); });
}

} // namespace

SIDELIGHT_ENTRY int MPI_Win_fence(int assertion, MPI_Win win)
{
    rma::Window* window = window_table::find_cached(win);
    if (window != nullptr && assertion == 0 && !Runtime::threaded() &&
        Direct::fence(*window, Runtime::polls())) [[likely]] {
        Runtime::pass_by();
        return MPI_SUCCESS;
    }
    return fence_slowly(assertion, win);
}
SIDELIGHT_PROFILED(Win_fence);

SIDELIGHT_ENTRY int MPI_Win_post(MPI_Group group, int assertion, MPI_Win win)
{
    const WindowObject* object = find_for_light_epochs(win);
    if (object != nullptr && (assertion & ~(MPI_MODE_NOSTORE | MPI_MODE_NOPUT)) == 0 &&
        object->post_group.knows(group) &&
        LightEpochs::post(*object->window, object->post_group.ranks())) [[likely]] {
        Runtime::pass_by();
        return MPI_SUCCESS;
    }
    return post_slowly(group, assertion, win);
}
SIDELIGHT_PROFILED(Win_post);

SIDELIGHT_ENTRY int MPI_Win_start(MPI_Group group, int assertion, MPI_Win win)
{
    const WindowObject* object = find_for_light_epochs(win);
    if (object != nullptr && assertion == 0 && object->start_group.knows(group) &&
        LightEpochs::start(*object->window, object->start_group.ranks(), Runtime::polls()))
        [[likely]] {
        Runtime::pass_by();
        return MPI_SUCCESS;
    }
    return start_slowly(group, assertion, win);
}
SIDELIGHT_PROFILED(Win_start);

SIDELIGHT_ENTRY int MPI_Win_complete(MPI_Win win)
{
    rma::Window* window = window_table::find_cached(win);
    if (window != nullptr && !Runtime::threaded() && LightEpochs::complete(*window)) [[likely]] {
        Runtime::pass_by();
        return MPI_SUCCESS;
    }
    return complete_slowly(win);
}
SIDELIGHT_PROFILED(Win_complete);

SIDELIGHT_ENTRY int MPI_Win_wait(MPI_Win win)
{
    rma::Window* window = window_table::find_cached(win);
    if (window != nullptr && !Runtime::threaded() && LightEpochs::wait(*window, Runtime::polls()))
        [[likely]] {
        Runtime::pass_by();
        return MPI_SUCCESS;
    }
    return wait_slowly(win);
}
SIDELIGHT_PROFILED(Win_wait);

SIDELIGHT_ENTRY int MPI_Win_test(MPI_Win win, int* flag)
{
    WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_through(win, [&] { return table().Win_test(win, flag); });
    }
    Runtime& runtime = *Runtime::existing();
    runtime.sweep();
    bool over = false;
    Status status = Status::ok;
    {
        const EngineGuard guard(runtime.lock());
        status = object->window->test(over);
    }
    if (status != Status::ok) {
        return host::mpi::answer_window(status, win);
    }
    if (!over) {
        host::mpi::poll_host();
    }
    *flag = over ? 1 : 0;
    return MPI_SUCCESS;
}
SIDELIGHT_PROFILED(Win_test);

SIDELIGHT_ENTRY int MPI_Win_lock(int lock_type, int rank, int assertion, MPI_Win win)
{
    rma::Window* window = window_table::find_cached(win);
    const bool known = lock_type == MPI_LOCK_EXCLUSIVE || lock_type == MPI_LOCK_SHARED;
    const auto type =
        lock_type == MPI_LOCK_EXCLUSIVE ? rma::LockType::exclusive : rma::LockType::shared;
    if (window != nullptr && known && assertion == 0 && !Runtime::threaded() &&
        !Runtime::remembers_lock() && Direct::lock(*window, rank, type)) [[likely]] {
        return MPI_SUCCESS;
    }
    return lock_slowly(lock_type, rank, assertion, win);
}
SIDELIGHT_PROFILED(Win_lock);

SIDELIGHT_ENTRY int MPI_Win_unlock(int rank, MPI_Win win)
{
    rma::Window* window = window_table::find_cached(win);
    if (window != nullptr && !Runtime::threaded() && Direct::unlock(*window, rank)) [[likely]] {
        Runtime::pass_by();
        return MPI_SUCCESS;
    }
    return unlock_slowly(rank, win);
}
SIDELIGHT_PROFILED(Win_unlock);

SIDELIGHT_ENTRY int MPI_Win_lock_all(int assertion, MPI_Win win)
{
    settle_locks();
    return synchronize(
        win,
        [&](WindowObject& object, Request* request) {
            const int target = waits_for_locks(object) ? rma::all_targets : object.window->rank();
            const Status opened = api::lock_all(object, assertion, nullptr);
            Runtime::existing()->remember_lock(object);
            return end_opening(object, opened, true, target, request);
        },
        [&] { return table().Win_lock_all(assertion, win); });
}
SIDELIGHT_PROFILED(Win_lock_all);

SIDELIGHT_ENTRY int MPI_Win_unlock_all(MPI_Win win)
{
    return synchronize(
        win,
        [](WindowObject& object, Request* request) { return object.window->unlock_all(request); },
        [&] { return table().Win_unlock_all(win); });
}
SIDELIGHT_PROFILED(Win_unlock_all);

SIDELIGHT_ENTRY int MPI_Win_flush(int rank, MPI_Win win)
{
    rma::Window* window = window_table::find_cached(win);
    if (window != nullptr && Direct::flush(*window, rank)) [[likely]] {
        Runtime::pass_by();
        return MPI_SUCCESS;
    }
    return flush_slowly(rank, win);
}
SIDELIGHT_PROFILED(Win_flush);

SIDELIGHT_ENTRY int MPI_Win_flush_local(int rank, MPI_Win win)
{
    const rma::Window* window = window_table::find_cached(win);
    if (window != nullptr && Direct::flush_local(*window, rank)) [[likely]] {
        Runtime::pass_by();
        return MPI_SUCCESS;
    }
    return flush_local_slowly(rank, win);
}
SIDELIGHT_PROFILED(Win_flush_local);

SIDELIGHT_ENTRY int MPI_Win_flush_all(MPI_Win win)
{
    return synchronize(
        win,
        [](WindowObject& object, Request* request) {
            return api::flush_all(object, FlushScope::remote, request);
        },
        [&] { return table().Win_flush_all(win); });
}
SIDELIGHT_PROFILED(Win_flush_all);

SIDELIGHT_ENTRY int MPI_Win_flush_local_all(MPI_Win win)
{
    return synchronize(
        win,
        [](WindowObject& object, Request* request) {
            return api::flush_all(object, FlushScope::local, request);
        },
        [&] { return table().Win_flush_local_all(win); });
}
SIDELIGHT_PROFILED(Win_flush_local_all);

/// Orders the program's loads and stores against RMA of others (MPI-4.1, 12.7), and is where a loop
/// that polls memory lets the engine progress.
SIDELIGHT_ENTRY int MPI_Win_sync(MPI_Win win)
{
    if (window_table::find(win) == nullptr) {
        return pass_through(win, [&] { return table().Win_sync(win); });
    }
    full_barrier();
    Runtime& runtime = *Runtime::existing();
    if (runtime.process().busy()) {
        runtime.sweep();
    }
    return MPI_SUCCESS;
}
SIDELIGHT_PROFILED(Win_sync);
