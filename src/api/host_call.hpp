// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tuple>

#include <sidelight_am.h>

#include "api/synchronization_call.hpp"

namespace sidelight::api {

/// The host's call on a window of its own, without assertions that it does not know.
template <class Call, class... Arguments>
int call_host(MPI_Win win, Arguments... arguments) noexcept
{
    auto* host = host::mpi::table().*Call::host;
    if constexpr (Call::asserts) {
        std::tuple known(arguments...);
        std::get<sizeof...(Arguments) - 1>(known) &= ~MPIX_MODE_CONCURRENT_AM;
        return std::apply([&](auto... passed) { return host(passed..., win); }, known);
    } else {
        return host(arguments..., win);
    }
}

} // namespace sidelight::api
