// SPDX-License-Identifier: BSD-3-Clause
#include "host/mpi/requests.hpp"

#include "host/mpi/table.hpp"
#include "host/node/wait.hpp"

namespace sidelight::host::mpi {

namespace {

std::atomic<bool (*)() noexcept> request_sweep{nullptr};
std::atomic<void (*)(bool) noexcept> request_pause{nullptr}; ///< set before the sweep

} // namespace

int query_nothing(void* /*state*/, MPI_Status* status) noexcept
{
    table().Status_set_elements(status, MPI_BYTE, 0);
    table().Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int ignore_freed(void* /*state*/) noexcept { return MPI_SUCCESS; }

int ignore_cancel(void* /*state*/, int /*complete*/) noexcept { return MPI_SUCCESS; }

ExtendedStart* find_extended_start() noexcept
{
    static auto* const found = [] {
        void* const start = find_symbol("PMPIX_Grequest_start");
        return reinterpret_cast<ExtendedStart*>(
            start != nullptr ? start : find_symbol("MPIX_Grequest_start")); // of the MPI ABI
    }();
    return found;
}

void RequestList::push(HostRequest* request) noexcept
{
    request->next_ = first_.load(std::memory_order_relaxed);
    while (!first_.compare_exchange_weak(request->next_, request, std::memory_order_release,
                                         std::memory_order_relaxed)) {
    }
}

HostRequest* RequestList::take_all() noexcept
{
    return first_.exchange(nullptr, std::memory_order_acquire);
}

bool RequestList::complete_all() noexcept
{
    HostRequest* request = take_all();
    const bool any = request != nullptr;
    while (request != nullptr) {
        HostRequest* next = request->next_; // it is gone once it is complete
        request->complete();
        request = next;
    }
    return any;
}

/// Epochs cannot be cancelled (P1, V).
Status HostRequest::start() noexcept
{
    constexpr std::uint8_t host_and_engine = 2;
    holders_.store(host_and_engine, std::memory_order_relaxed);
    const int code =
        find_extended_start() != nullptr
            ? find_extended_start()(query, freed, ignore_cancel, poll, wait, this, &handle_)
            : table().Grequest_start(query, freed, ignore_cancel, this, &handle_);
    if (code != MPI_SUCCESS) {
        handle_ = MPI_REQUEST_NULL;
        return Status::other;
    }
    return Status::ok;
}

void HostRequest::complete() noexcept
{
    table().Grequest_complete(handle_);
    let_go();
}

void HostRequest::abandon() noexcept
{
    MPI_Request handle = handle_;
    complete();
    table().Wait(&handle, MPI_STATUS_IGNORE);
}

/// MPICH's MPI_Waitsome and MPI_Testsome take the error of each from its status alone. An error
/// handler of the program's may make calls of its own meanwhile.
int HostRequest::query(void* state, MPI_Status* status) noexcept
{
    query_nothing(nullptr, status);
    auto& request = *static_cast<HostRequest*>(state);
    const bool is_kept =
        KeptOutcome::latest_.request == request.handle_ && request.handle_ != MPI_REQUEST_NULL;
    const int code = request.outcome();
    if (is_kept) {
        KeptOutcome::latest_.code = code;
        return MPI_SUCCESS;
    }
    if (code != MPI_SUCCESS) {
        status->MPI_ERROR = code;
    }
    return code;
}

int HostRequest::freed(void* state) noexcept
{
    static_cast<HostRequest*>(state)->let_go();
    return MPI_SUCCESS;
}

/// MPI_Wait calls it in a loop and does nothing else; MPI_Waitany and the tests go over all their
/// requests and let the host progress in between.
int HostRequest::poll(void* state, MPI_Status* /*status*/) noexcept
{
    if (node::Waiter::begins_turn(static_cast<HostRequest*>(state)->polled_)) {
        sweep_for_requests();
    }
    return MPI_SUCCESS;
}

/// MPI_Waitall takes one request after the other, and calls it again until that one is complete.
int HostRequest::wait(int /*count*/, void** /*states*/, double /*timeout*/,
                      MPI_Status* /*status*/) noexcept
{
    sweep_for_requests();
    return MPI_SUCCESS;
}

/// The second of host and engine gives it back. Acquire and release: what either wrote to it comes
/// before its next life.
void HostRequest::let_go() noexcept
{
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        released_->push(this);
    }
}

void sweep_for_requests() noexcept
{
    bool (*const sweep)() noexcept = request_sweep.load(std::memory_order_acquire);
    if (sweep != nullptr) {
        const bool moved = sweep();
        request_pause.load(std::memory_order_relaxed)(moved);
    }
}

#if SIDELIGHT_MPI_ABI
bool host_polls_requests() noexcept { return find_extended_start() != nullptr; }
#endif

Status start_idle_request(MPI_Request* handle) noexcept
{
    if (table().Grequest_start(query_nothing, ignore_freed, ignore_cancel, nullptr, handle) !=
        MPI_SUCCESS) {
        *handle = MPI_REQUEST_NULL;
        return Status::other;
    }
    return Status::ok;
}

void end_idle_request(MPI_Request* handle) noexcept
{
    table().Grequest_complete(*handle);
    table().Wait(handle, MPI_STATUS_IGNORE);
    *handle = MPI_REQUEST_NULL;
}

void set_request_sweep(bool (*sweep)() noexcept, void (*pause)(bool moved) noexcept) noexcept
{
    request_pause.store(pause, std::memory_order_relaxed);
    request_sweep.store(sweep, std::memory_order_release);
}

} // namespace sidelight::host::mpi
