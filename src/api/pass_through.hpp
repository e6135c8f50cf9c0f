// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "api/entry.hpp"
#include "host/mpi/errors.hpp"
#include "host/mpi/fit.hpp"
#include "host/mpi/table.hpp"
#include "runtime/window_table.hpp"

namespace sidelight::api {

/// For windows that are not ours: an error for a null or freed handle, and for what is left of a
/// window that was freed; else the host's answer.
template <class HostCall>
int pass_through(MPI_Win win, HostCall call) noexcept
{
    using runtime::window_table::Standing;
    const Standing standing = runtime::window_table::standing(win);
    if (standing == Standing::good) {
        return call();
    }
    return standing == Standing::orphan ? host::mpi::answer_window(Status::win, win)
                                        : host::mpi::answer(Status::win);
}

/// The same, by the name of the host's function.
template <auto host_function, class... Arguments>
int pass_on(MPI_Win win, Arguments... arguments) noexcept
{
    return pass_through(win, [&] { return (host::mpi::table().*host_function)(arguments...); });
}

/// For a call that no host has, and a window that is not ours.
[[nodiscard]] inline int refuse(MPI_Win win) noexcept
{
    if (!host::mpi::fits_host()) {
        return MPI_ERR_OTHER;
    }
    return pass_through(win, [&] { return host::mpi::answer_window(Status::unsupported, win); });
}

} // namespace sidelight::api
