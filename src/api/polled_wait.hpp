// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/mpi/requests.hpp"
#include "host/mpi/table.hpp"

/// Calls that complete requests, on a host that polls nothing of ours (docs/design/hooks.md).
namespace sidelight::api {

/// Such a call is its test, again and again, with a sweep before each. `test` says whether it is
/// over.
template <typename Test>
int wait_by_tests(Test test)
{
    int code = MPI_SUCCESS;
    int is_over = 0;
    while (code == MPI_SUCCESS && is_over == 0) {
        host::mpi::sweep_for_requests();
        code = test(is_over);
    }
    return code;
}

inline void sweep_before_test() noexcept
{
    if (!host::mpi::host_polls_requests()) {
        host::mpi::sweep_for_requests();
    }
}

} // namespace sidelight::api
