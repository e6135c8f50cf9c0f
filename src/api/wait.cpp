// SPDX-License-Identifier: BSD-3-Clause
#include "api/entry.hpp"
#include "api/pass_through.hpp"
#include "host/mpi/requests.hpp"
#include "host/mpi/table.hpp"
#include "runtime/runtime.hpp"

using namespace sidelight;
using namespace sidelight::api;
using runtime::Requests;
using runtime::Runtime;

namespace {

[[gnu::noinline]] bool is_over(MPI_Request& request, MPI_Status* status) noexcept
{
    if (!Runtime::existing()->wait_briefly(request)) {
        return false;
    }
    request = MPI_REQUEST_NULL;
    if (status != MPI_STATUS_IGNORE) {
        host::mpi::query_nothing(nullptr, status);
    }
    return true;
}

} // namespace

/// Of all requests the one of ours that was handed out last is looked at here; the rest are the
/// host's, for the price of a comparison. Only a library that fits has handed out any.
SIDELIGHT_WORDS(Wait, Word request, Word status)
{
    auto* handle = reinterpret_cast<MPI_Request*>(request);
    if (Requests::is_latest(handle) && is_over(*handle, reinterpret_cast<MPI_Status*>(status)))
        [[unlikely]] {
        return MPI_SUCCESS;
    }
    return as_it_came<&host::mpi::Table::Wait>(request, status);
}
