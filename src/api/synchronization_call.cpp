// SPDX-License-Identifier: BSD-3-Clause
#include "api/synchronization_call.hpp"

namespace sidelight::api {

using namespace runtime;

namespace {

constexpr int fence_bits =
    MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
constexpr int post_bits = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;
constexpr int access_bits = MPI_MODE_NOCHECK;

/// The assertion of a call that knows `allowed`; false for any other bit.
bool read_assertion(int bits, int allowed, rma::Assertion& assertion) noexcept
{
    assertion = {.no_check = (bits & MPI_MODE_NOCHECK) != 0,
                 .no_precede = (bits & MPI_MODE_NOPRECEDE) != 0,
                 .no_succeed = (bits & MPI_MODE_NOSUCCEED) != 0};
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

} // namespace

Status fence(const WindowObject& object, int assertion, Request* request) noexcept
{
    rma::Assertion asserted;
    if (!read_assertion(assertion, fence_bits, asserted)) {
        return Status::assertion;
    }
    // What the program loads and stores after the fence must wait for the others.
    asserted.no_precede =
        asserted.no_precede && !object.loads_and_stores.load(std::memory_order_relaxed);
    return object.window->fence(asserted, request);
}

Status post(WindowObject& object, MPI_Group group, int assertion, Request* request) noexcept
{
    rma::Assertion asserted;
    if (!read_assertion(assertion, post_bits, asserted)) {
        return Status::assertion;
    }
    std::span<const int> origins;
    const Status status = object.post_group.translate(group, object.group, origins);
    return status == Status::ok ? object.window->post(origins, request) : status;
}

Status start(WindowObject& object, MPI_Group group, int assertion, Request* request) noexcept
{
    rma::Assertion asserted;
    if (!read_assertion(assertion, access_bits, asserted)) {
        return Status::assertion;
    }
    std::span<const int> targets;
    const Status status = object.start_group.translate(group, object.group, targets);
    return status == Status::ok ? object.window->start(targets, asserted, request) : status;
}

Status lock(const WindowObject& object, int type, int rank, int assertion,
            Request* request) noexcept
{
    rma::Assertion asserted;
    if (!read_assertion(assertion, access_bits, asserted)) {
        return Status::assertion;
    }
    if (type != MPI_LOCK_SHARED && type != MPI_LOCK_EXCLUSIVE) {
        return Status::lock_type;
    }
    if (is_nobody(rank, request)) {
        return Status::ok;
    }
    const auto kind = type == MPI_LOCK_EXCLUSIVE ? rma::LockType::exclusive : rma::LockType::shared;
    return object.window->lock(kind, rank, asserted, request);
}

Status unlock(const WindowObject& object, int rank, Request* request) noexcept
{
    return is_nobody(rank, request) ? Status::ok : object.window->unlock(rank, request);
}

Status lock_all(const WindowObject& object, int assertion, Request* request) noexcept
{
    rma::Assertion asserted;
    if (!read_assertion(assertion, access_bits, asserted)) {
        return Status::assertion;
    }
    return object.window->lock_all(asserted, request);
}

Status flush(const WindowObject& object, int rank, rma::FlushScope scope, Request* request) noexcept
{
    if (is_nobody(rank, request)) {
        return Status::ok;
    }
    return rank < 0 ? Status::rank : object.window->flush(rank, scope, request);
}

Status flush_all(const WindowObject& object, rma::FlushScope scope, Request* request) noexcept
{
    return object.window->flush(rma::all_targets, scope, request);
}

} // namespace sidelight::api
