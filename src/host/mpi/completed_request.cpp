// SPDX-License-Identifier: BSD-3-Clause
#include "host/mpi/completed_request.hpp"

#include "host/mpi/requests.hpp"
#include "host/mpi/table.hpp"

namespace sidelight::host::mpi {

namespace {

/// A generalized request costs several times what the host's cheapest one does, so a program that
/// ends its requests by other calls than MPI_Wait gets one in so many.
constexpr int others_after_loss = 64;

std::atomic<MPI_Comm> communicator{MPI_COMM_NULL};

Status start_completed(MPI_Grequest_free_function* freed, MPI_Request* handle) noexcept
{
    MPI_Request made = MPI_REQUEST_NULL;
    if (table().Grequest_start(query_nothing, freed, ignore_cancel, nullptr, &made) !=
            MPI_SUCCESS ||
        table().Grequest_complete(made) != MPI_SUCCESS) {
        return Status::other;
    }
    *handle = made;
    return Status::ok;
}

} // namespace

/// An operation to MPI_PROC_NULL is complete when it starts, and most hosts keep one request for
/// all such; without a communicator, a generalized request does.
Status CompletedRequest::create_another(MPI_Request* handle) noexcept
{
    if (wanted_ && away_.load(std::memory_order_relaxed) == none && --others_first_ < 0) {
        if (start_completed(freed, handle) == Status::ok) {
            away_.store(*handle, std::memory_order_relaxed);
            return Status::ok;
        }
        wanted_ = false; // this host has none to give
    }
    const MPI_Comm comm = communicator.load(std::memory_order_relaxed);
    if (comm == MPI_COMM_NULL) {
        return start_completed(ignore_freed, handle);
    }
    return table().Irecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm, handle) == MPI_SUCCESS
               ? Status::ok
               : Status::other;
}

/// Also called for one that was given up by `keep`, when another may be away.
int CompletedRequest::freed(void* /*state*/) noexcept
{
    away_.store(none, std::memory_order_relaxed);
    others_first_ = others_after_loss;
    return MPI_SUCCESS;
}

void CompletedRequest::use(MPI_Comm comm) noexcept
{
    communicator.exchange(comm, std::memory_order_acq_rel);
}

void CompletedRequest::keep(bool wanted) noexcept
{
    wanted_ = wanted;
    if (wanted) {
        return;
    }
    away_.store(none, std::memory_order_relaxed);
    MPI_Request here = here_.exchange(none, std::memory_order_relaxed);
    if (here != none) {
        table().Wait(&here, MPI_STATUS_IGNORE);
    }
}

} // namespace sidelight::host::mpi
