// SPDX-License-Identifier: BSD-3-Clause
#include "api/traced_wait.hpp"

#include <new>

#include "api/call_site.hpp"
#include "api/entry.hpp"
#include "api/pass_through.hpp"
#include "api/polled_wait.hpp"
#include "host/mpi/table.hpp"
#include "runtime/tracing.hpp"

using namespace sidelight;
using namespace sidelight::api;
using host::mpi::table;

TracedWait::TracedWait(int count, const MPI_Request* requests, const void* from) noexcept
    : waits_(from != nullptr)
{
    try {
        for (int index = 0; requests != nullptr && index < count; ++index) {
            const runtime::TracedRequest request = runtime::find_traced(requests[index]);
            if (request.track) {
                awaited_.push_back({requests + index, request});
            }
        }
    } catch (const std::bad_alloc&) {
        awaited_.clear(); // it is not noted
    }
    note(trace::Event::call_entered, reinterpret_cast<std::uintptr_t>(from));
}

void TracedWait::note(trace::Event event, std::uint64_t value) const noexcept
{
    if (waits_ && !awaited_.empty()) {
        constexpr auto kind = static_cast<std::uint8_t>(trace::CallKind::request);
        awaited_.front().request.track.note({.event = event, .detail = kind, .value = value});
    }
}

int TracedWait::left(int code) noexcept
{
    for (const Awaited& each : awaited_) {
        if (*each.place == MPI_REQUEST_NULL) {
            runtime::trace_end(each.request);
        }
    }
    note(trace::Event::call_left, static_cast<std::uint64_t>(code));
    return code;
}

/// The calls of front.def that are ours only while there is a trace, or where the host polls
/// nothing of ours. MPI_Wait is always, see wait.cpp.
SIDELIGHT_OWN int own_Waitall(int count, MPI_Request* requests, MPI_Status* statuses)
{
    TracedWait traced(count, requests, SIDELIGHT_CALL_SITE);
    if (host::mpi::host_polls_requests()) {
        return traced.left(table().Waitall(count, requests, statuses));
    }
    return traced.left(wait_by_tests(
        [=](int& flag) { return table().Testall(count, requests, &flag, statuses); }));
}

SIDELIGHT_OWN int own_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status)
{
    TracedWait traced(count, requests, SIDELIGHT_CALL_SITE);
    if (host::mpi::host_polls_requests()) {
        return traced.left(table().Waitany(count, requests, index, status));
    }
    return traced.left(wait_by_tests(
        [=](int& flag) { return table().Testany(count, requests, index, &flag, status); }));
}

SIDELIGHT_OWN int own_Waitsome(int count, MPI_Request* requests, int* ended, int* indices,
                               MPI_Status* statuses)
{
    TracedWait traced(count, requests, SIDELIGHT_CALL_SITE);
    if (host::mpi::host_polls_requests()) {
        return traced.left(table().Waitsome(count, requests, ended, indices, statuses));
    }
    return traced.left(wait_by_tests([=](int& flag) {
        const int code = table().Testsome(count, requests, ended, indices, statuses);
        flag = ended == nullptr || *ended != 0 ? 1 : 0;
        return code;
    }));
}

SIDELIGHT_OWN int own_Test(MPI_Request* request, int* flag, MPI_Status* status)
{
    TracedWait traced(1, request, nullptr);
    sweep_before_test();
    return traced.left(table().Test(request, flag, status));
}

SIDELIGHT_OWN int own_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses)
{
    TracedWait traced(count, requests, nullptr);
    sweep_before_test();
    return traced.left(table().Testall(count, requests, flag, statuses));
}

SIDELIGHT_OWN int own_Testany(int count, MPI_Request* requests, int* index, int* flag,
                              MPI_Status* status)
{
    TracedWait traced(count, requests, nullptr);
    sweep_before_test();
    return traced.left(table().Testany(count, requests, index, flag, status));
}

SIDELIGHT_OWN int own_Testsome(int count, MPI_Request* requests, int* ended, int* indices,
                               MPI_Status* statuses)
{
    TracedWait traced(count, requests, nullptr);
    sweep_before_test();
    return traced.left(table().Testsome(count, requests, ended, indices, statuses));
}
