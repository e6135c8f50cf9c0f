// SPDX-License-Identifier: BSD-3-Clause
#include "api/synchronization_call.hpp"

#include <sidelight_am.h>

namespace sidelight::api {

using namespace runtime;

namespace {

static_assert((MPIX_MODE_CONCURRENT_AM & (MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT |
                                          MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED)) == 0);

constexpr int fence_bits = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE |
                           MPI_MODE_NOSUCCEED | MPIX_MODE_CONCURRENT_AM;
constexpr int post_bits = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;
constexpr int access_bits = MPI_MODE_NOCHECK | MPIX_MODE_CONCURRENT_AM;

/// The assertion of a call that knows `allowed`; false for any other bit.
bool read_assertion(int bits, int allowed, rma::Assertion& assertion) noexcept
{
    assertion = {.no_check = (bits & MPI_MODE_NOCHECK) != 0,
                 .no_precede = (bits & MPI_MODE_NOPRECEDE) != 0,
                 .no_succeed = (bits & MPI_MODE_NOSUCCEED) != 0,
                 .concurrent = (bits & MPIX_MODE_CONCURRENT_AM) != 0};
    return (bits & ~allowed) == 0;
}

/// Nothing is sent to MPI_PROC_NULL, so a lock of it is held at once.
bool is_nobody(int rank, Request* request) noexcept
{
    if (rank == MPI_PROC_NULL) {
        rma::finish(request);
        return true;
    }
    return false;
}

bool uses_loads_and_stores(const WindowObject& object) noexcept
{
    return object.body->loads_and_stores.load(std::memory_order_relaxed);
}

/// Whether a blocking call waits for all locks that it asks for: see LockOrder.
bool waits_for_locks(const WindowObject& object) noexcept
{
    return Engine::program_has_threads() || uses_loads_and_stores(object);
}

Status fence(const WindowObject& object, int assertion, Request* request, bool waits,
             int polls) noexcept
{
    rma::Assertion asserted;
    if (!read_assertion(assertion, fence_bits, asserted)) {
        return Status::assertion;
    }
    // What the program loads and stores after the fence must wait for the others.
    asserted.no_precede = asserted.no_precede && !uses_loads_and_stores(object);
    object.body->opened_ahead = waits && asserted.no_precede;
    return object.window->fence(asserted, request, waits, polls);
}

Status start_access(WindowObject& object, MPI_Group group, int assertion, Request* request,
                    int polls) noexcept
{
    rma::Assertion asserted;
    if (!read_assertion(assertion, access_bits, asserted)) {
        return Status::assertion;
    }
    std::span<const int> targets;
    const Status status = object.start_group.translate(group, object.body->group, targets);
    return status == Status::ok ? object.window->start(targets, asserted, request, polls) : status;
}

/// `rank` may not be rma::all_targets.
Status flush(const WindowObject& object, int rank, rma::FlushScope scope, Request* request) noexcept
{
    if (is_nobody(rank, request)) {
        return Status::ok;
    }
    const bool is_target = object.region == nullptr ? rank >= 0 : rank == object.region->rank;
    return is_target ? object.window->flush(rank, scope, request, flushing_thread(object))
                     : Status::rank;
}

/// The window of a memory handle has one target.
Status flush_all(const WindowObject& object, rma::FlushScope scope, Request* request) noexcept
{
    const int target = object.region == nullptr ? rma::all_targets : object.region->rank;
    return object.window->flush(target, scope, request, flushing_thread(object));
}

} // namespace

Status Fence::start(WindowObject& object, int assertion, Request* request) noexcept
{
    return fence(object, assertion, request, false, 0);
}

Status Fence::begin(WindowObject& object, int assertion, Request* request) noexcept
{
    return fence(object, assertion, request, true, Waiting::polls_of_memory());
}

Status Post::start(WindowObject& object, MPI_Group group, int assertion, Request* request) noexcept
{
    rma::Assertion asserted;
    if (!read_assertion(assertion, post_bits, asserted)) {
        return Status::assertion;
    }
    std::span<const int> origins;
    const Status status = object.post_group.translate(group, object.body->group, origins);
    return status == Status::ok ? object.window->post(origins, request) : status;
}

Status Start::start(WindowObject& object, MPI_Group group, int assertion, Request* request) noexcept
{
    object.body->opened_ahead = false;
    return start_access(object, group, assertion, request, 0);
}

Status Start::begin(WindowObject& object, MPI_Group group, int assertion, Request* request) noexcept
{
    const bool waits = uses_loads_and_stores(object);
    object.body->opened_ahead = !waits;
    const Status opened = start_access(object, group, assertion, waits ? nullptr : request,
                                       Waiting::polls_of_memory());
    return waits && opened == Status::ok ? object.window->await_grant(rma::all_targets, request)
                                         : opened;
}

Status Complete::start(WindowObject& object, Request* request) noexcept
{
    return object.window->complete(request);
}

/// It may return before late targets have come: see docs/design/early-return.md.
Status Complete::begin(WindowObject& object, Request* request) noexcept
{
    return object.window->complete(request, true, Waiting::polls_of_memory());
}

Status Wait::start(WindowObject& object, Request* request) noexcept
{
    return object.window->wait(request);
}

Status Wait::begin(WindowObject& object, Request* request) noexcept
{
    return object.window->wait(request, Waiting::polls_of_memory(), true);
}

namespace {

Status lock(const WindowObject& object, int lock_type, int rank, int assertion, Request* request,
            bool grant_waited) noexcept
{
    rma::Assertion asserted;
    if (!read_assertion(assertion, access_bits, asserted)) {
        return Status::assertion;
    }
    if (lock_type != MPI_LOCK_SHARED && lock_type != MPI_LOCK_EXCLUSIVE) {
        return Status::lock_type;
    }
    if (is_nobody(rank, request)) {
        return Status::ok;
    }
    const auto type =
        lock_type == MPI_LOCK_EXCLUSIVE ? rma::LockType::exclusive : rma::LockType::shared;
    return object.window->lock(type, rank, asserted, request, grant_waited);
}

Status lock_all(const WindowObject& object, int assertion, Request* request,
                bool grant_waited) noexcept
{
    rma::Assertion asserted;
    if (!read_assertion(assertion, access_bits, asserted)) {
        return Status::assertion;
    }
    return object.window->lock_all(asserted, request, grant_waited);
}

} // namespace

Status Lock::start(WindowObject& object, int lock_type, int rank, int assertion,
                   Request* request) noexcept
{
    return lock(object, lock_type, rank, assertion, request, false);
}

/// Waits where the program may then use loads and stores of its own.
Status Lock::begin(WindowObject& object, int lock_type, int rank, int assertion,
                   Request* request) noexcept
{
    const bool waits =
        rank != MPI_PROC_NULL && (rank == object.window->rank() || waits_for_locks(object));
    const Status opened = lock(object, lock_type, rank, assertion, waits ? nullptr : request,
                               Engine::program_has_threads());
    if (opened != Status::ok || rank == MPI_PROC_NULL) {
        return opened;
    }
    if (waits) {
        return object.window->await_grant(rank, request);
    }
    LockOrder::remember(*object.window, rank);
    return Status::ok;
}

Status Unlock::start(WindowObject& object, int rank, Request* request) noexcept
{
    return is_nobody(rank, request) ? Status::ok : object.window->unlock(rank, request);
}

Status Unlock::begin(WindowObject& object, int rank, Request* request) noexcept
{
    return is_nobody(rank, request) ? Status::ok : object.window->unlock(rank, request, true);
}

bool LockAll::at_once(WindowKey& window, int assertion) noexcept
{
    return assertion == 0 && !LockOrder::is_open() && window.window->settled().lock_all();
}

Status LockAll::start(WindowObject& object, int assertion, Request* request) noexcept
{
    return lock_all(object, assertion, request, false);
}

Status LockAll::begin(WindowObject& object, int assertion, Request* request) noexcept
{
    rma::Window& window = *object.window;
    const Status opened = lock_all(object, assertion, nullptr, Engine::program_has_threads());
    if (opened != Status::ok || waits_for_locks(object)) {
        return opened != Status::ok ? opened : window.await_grant(rma::all_targets, request);
    }
    LockOrder::remember(window, rma::all_targets);
    const Status waits = window.flush(window.rank(), rma::FlushScope::remote, request);
    if (waits != Status::ok) { // no memory
        static_cast<void>(window.unlock_all(nullptr));
    }
    return waits;
}

bool UnlockAll::at_once(WindowKey& window) noexcept
{
    return window.window->settled().unlock_all();
}

Status UnlockAll::start(WindowObject& object, Request* request) noexcept
{
    return object.window->unlock_all(request);
}

Status UnlockAll::begin(WindowObject& object, Request* request) noexcept
{
    return object.window->unlock_all(request, true);
}

Status Flush::start(WindowObject& object, int rank, Request* request) noexcept
{
    return flush(object, rank, rma::FlushScope::remote, request);
}

Status FlushLocal::start(WindowObject& object, int rank, Request* request) noexcept
{
    return flush(object, rank, rma::FlushScope::local, request);
}

Status FlushAll::start(WindowObject& object, Request* request) noexcept
{
    return flush_all(object, rma::FlushScope::remote, request);
}

Status FlushLocalAll::start(WindowObject& object, Request* request) noexcept
{
    return flush_all(object, rma::FlushScope::local, request);
}

} // namespace sidelight::api
