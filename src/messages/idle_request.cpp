// SPDX-License-Identifier: BSD-3-Clause
#include "messages/idle_request.hpp"

#include "host/mpi/table.hpp"

namespace sidelight::messages {

namespace {

using host::mpi::table;

int query(void* /*state*/, MPI_Status* status) noexcept
{
    table().Status_set_elements(status, MPI_BYTE, 0);
    table().Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

int free_nothing(void* /*state*/) noexcept { return MPI_SUCCESS; }
int cancel_nothing(void* /*state*/, int /*complete*/) noexcept { return MPI_SUCCESS; }

} // namespace

void IdleRequest::ask(AskStatus* status) noexcept
{
    if (request_ == MPI_REQUEST_NULL && table().Grequest_start(query, free_nothing, cancel_nothing,
                                                               nullptr, &request_) != MPI_SUCCESS) {
        request_ = MPI_REQUEST_NULL;
        return;
    }
    int flag = 0;
    status(request_, &flag, MPI_STATUS_IGNORE);
}

void IdleRequest::end() noexcept
{
    if (request_ != MPI_REQUEST_NULL) {
        table().Grequest_complete(request_);
        table().Wait(&request_, MPI_STATUS_IGNORE);
    }
}

} // namespace sidelight::messages
