// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/requests.hpp"

#include <utility>

#include "host/mpi/errors.hpp"
#include "host/mpi/progress.hpp"

namespace sidelight::runtime {

int NonblockingRequest::outcome() noexcept
{
    if (status != Status::ok && object_->life.load(std::memory_order_acquire) == life_) {
        return host::mpi::answer_window(status, object_->handle);
    }
    return host::mpi::error_class(status);
}

NonblockingRequest* Requests::take(const WindowObject& object) noexcept
{
    NonblockingRequest* request = std::exchange(spare_, nullptr);
    if (request == nullptr) {
        request = pool_.take();
        if (request == nullptr) {
            return nullptr;
        }
        if (request->start() != Status::ok) {
            pool_.give_back(request);
            return nullptr;
        }
    }
    request->begin(*this, object);
    return request;
}

NonblockingRequest* Requests::give_up_spare() noexcept { return std::exchange(spare_, nullptr); }

/// What is complete already gets the host's cheapest request, and the one that was started is kept
/// for the next call; only what is not complete, or has failed, is watched.
Status Requests::hand_out(Status status, NonblockingRequest& request, MPI_Comm own,
                          MPI_Request* handle) noexcept
{
    rma::Request& engine_side = request;
    if (status != Status::ok) {
        spare_ = &request;
        return status;
    }
    if (!engine_side.complete) {
        engine_side.on_complete = complete;
        *handle = request.handle();
    } else if (engine_side.status == Status::ok &&
               host::mpi::create_completed_request(own, handle) == Status::ok) {
        spare_ = &request;
    } else {
        *handle = request.handle();
        complete(engine_side);
    }
    return Status::ok;
}

bool Requests::host_is_locked() noexcept
{
    return Engine::program_has_threads() && host::mpi::is_in_worker_hook();
}

void Requests::complete(rma::Request& request) noexcept
{
    auto& ours = static_cast<NonblockingRequest&>(request);
    host::mpi::HostRequest& host_side = ours;
    Requests& among = ours.among();
    if (Engine::is_helper() || host_is_locked()) {
        among.found_complete_.push(&host_side);
    } else {
        host_side.complete();
    }
    among.waiting_.rouse();
}

} // namespace sidelight::runtime
