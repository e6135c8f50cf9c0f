// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/requests.hpp"

#include <utility>

#include "host/mpi/completed_request.hpp"
#include "host/mpi/errors.hpp"
#include "host/mpi/progress.hpp"
#include "rma/engine/window_parts.hpp"
#include "runtime/thread_level.hpp"

namespace sidelight::runtime {

int NonblockingRequest::outcome() noexcept
{
    if (status != Status::ok && object_->life.load(std::memory_order_acquire) == life_ &&
        !told_.exchange(true, std::memory_order_relaxed)) {
        return host::mpi::answer_window(status, object_->handle);
    }
    return host::mpi::error_class(status);
}

bool NonblockingRequest::peek(int times) noexcept
{
    const rma::Request& engine_side = *this;
    if (engine_side.complete || object_->life.load(std::memory_order_relaxed) != life_) {
        return engine_side.complete;
    }
    rma::NotificationCounters& counters = object_->window->parts().counters;
    for (; times > 0 && counters.has_newest() && !engine_side.complete; --times) {
        counters.peek();
    }
    return engine_side.complete;
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

/// What is complete already gets a request that says so, and the one that was started is kept
/// for the next call; only what is not complete, or has failed, is watched.
Status Requests::hand_out(Status status, NonblockingRequest& request, MPI_Request* handle) noexcept
{
    rma::Request& engine_side = request;
    if (status != Status::ok) {
        spare_ = &request;
        return status;
    }
    if (!engine_side.complete) {
        engine_side.on_complete = complete;
        *handle = request.handle();
        pending_.add(request.handle(), request);
    } else if (engine_side.status == Status::ok &&
               host::mpi::CompletedRequest::create(handle) == Status::ok) {
        spare_ = &request;
    } else {
        *handle = request.handle();
        pending_.note_one();
        complete(engine_side);
    }
    return Status::ok;
}

NonblockingRequest* Requests::claim(MPI_Request handle) noexcept
{
    NonblockingRequest* request = pending_.find(handle);
    if (request == nullptr) {
        return nullptr;
    }
    pending_.remove(handle, *request);
    static_cast<rma::Request*>(request)->on_complete = rouse;
    return request;
}

/// What has failed is told when the host ends its request.
bool Requests::settle(NonblockingRequest& request) noexcept
{
    rma::Request& engine_side = request;
    if (!engine_side.complete) {
        engine_side.on_complete = complete;
        return false;
    }
    if (engine_side.status == Status::ok && spare_ == nullptr) {
        spare_ = &request;
        return true;
    }
    complete(engine_side);
    return false;
}

bool Requests::host_is_locked() noexcept
{
    const bool host_has_threads = Engine::program_has_threads() || host_has_more_threads();
    return host_has_threads && host::mpi::is_in_worker_hook();
}

void Requests::complete(rma::Request& request) noexcept
{
    auto& ours = static_cast<NonblockingRequest&>(request);
    host::mpi::HostRequest& host_side = ours;
    Requests& among = ours.among();
    pending_.remove(ours.handle(), ours); // the host may give its name to another one
    if (Engine::is_helper() || host_is_locked()) {
        among.found_complete_.push(&host_side);
    } else {
        host_side.complete();
    }
    among.waiting_.rouse();
}

void Requests::rouse(rma::Request& request) noexcept
{
    static_cast<NonblockingRequest&>(request).among().waiting_.rouse();
}

} // namespace sidelight::runtime
