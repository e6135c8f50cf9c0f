// SPDX-License-Identifier: BSD-3-Clause
#include "api/call_site.hpp"
#include "api/entry.hpp"
#include "api/pass_through.hpp"
#include "api/polled_wait.hpp"
#include "api/traced_wait.hpp"
#include "host/mpi/completed_request.hpp"
#include "host/mpi/fit.hpp"
#include "host/mpi/requests.hpp"
#include "host/mpi/table.hpp"
#include "runtime/runtime.hpp"

using namespace sidelight;
using namespace sidelight::api;
using host::mpi::CompletedRequest;
using runtime::Requests;
using runtime::Runtime;

namespace {

[[gnu::always_inline]] inline int tell_nothing(Word status) noexcept
{
    auto* told = reinterpret_cast<MPI_Status*>(status);
    if (told != MPI_STATUS_IGNORE) [[unlikely]] {
        host::mpi::query_nothing(nullptr, told);
    }
    return MPI_SUCCESS;
}

int wait_by_host(MPI_Request* handle, Word status)
{
    if (!host::mpi::host_polls_requests() && host::mpi::fits_host()) {
        auto* told = reinterpret_cast<MPI_Status*>(status);
        return wait_by_tests(
            [=](int& flag) { return host::mpi::table().Test(handle, &flag, told); });
    }
    return as_it_came<&host::mpi::Table::Wait>(reinterpret_cast<Word>(handle), status);
}

/// For one that may be ours and pending, or have failed.
[[gnu::noinline]] int wait_for_ours(MPI_Request* handle, Word status)
{
    if (Requests::may_be_pending(handle) && Runtime::existing()->wait_for(*handle)) {
        *handle = MPI_REQUEST_NULL;
        return tell_nothing(status);
    }
    const host::mpi::KeptOutcome outcome(handle != nullptr ? *handle : MPI_REQUEST_NULL);
    return host::mpi::KeptOutcome::answer(wait_by_host(handle, status));
}

/// For one that is not known to be complete.
[[gnu::always_inline]] inline int wait(MPI_Request* handle, Word status)
{
    return Requests::any() ? wait_for_ours(handle, status) : wait_by_host(handle, status);
}

} // namespace

/// Requests that are looked at here: the one that was complete from the start, and those of ours
/// that are not complete, or have failed. The rest are the host's, for the price of two
/// comparisons, and some more in a program that has had pending ones. Only a library that fits has
/// handed out any.
SIDELIGHT_WORDS(Wait, Word request, Word status)
{
    auto* handle = reinterpret_cast<MPI_Request*>(request);
    if (CompletedRequest::is_own(handle)) {
        CompletedRequest::take_back(handle);
        return tell_nothing(status);
    }
    if (trace::of_process.load(std::memory_order_relaxed) != nullptr) [[unlikely]] {
        TracedWait traced(1, handle, SIDELIGHT_CALL_SITE);
        return traced.left(wait(handle, status));
    }
    return wait(handle, status);
}
