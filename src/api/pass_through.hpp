// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "api/entry.hpp"
#include "host/mpi/errors.hpp"
#include "host/mpi/table.hpp"
#include "runtime/window_table.hpp"

namespace sidelight::api {

/// For windows that are not ours: an error for a null or freed handle, else the host's answer.
template <class HostCall>
int pass_through(MPI_Win win, HostCall call) noexcept
{
    if (runtime::window_table::is_stale(win)) {
        return host::mpi::answer(Status::win);
    }
    return call();
}

/// The same, by the name of the host's function. One that the host lacks is an operation that it
/// does not support.
template <auto host_function, class... Arguments>
int pass_on(MPI_Win win, Arguments... arguments) noexcept
{
    auto* function = host::mpi::table().*host_function;
    return pass_through(win, [&] {
        return function != nullptr ? function(arguments...)
                                   : host::mpi::answer_window(Status::unsupported, win);
    });
}

/// Where this library does not fit: the host's function gets the words of the call.
template <auto host_function, class... Words>
int as_it_came(Words... words) noexcept
{
    void* function = reinterpret_cast<void*>(host::mpi::table().*host_function);
    return reinterpret_cast<int (*)(Words...)>(function)(words...);
}

} // namespace sidelight::api
