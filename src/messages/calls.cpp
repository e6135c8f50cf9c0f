// SPDX-License-Identifier: BSD-3-Clause
#include "messages/calls.hpp"

#include <dlfcn.h>

#include "host/mpi/table.hpp"

namespace sidelight::messages {

namespace {

constexpr std::array<const char*, static_cast<std::size_t>(Call::count)> names{
#define SIDELIGHT_ATTENDED(name, ...) "PMPI_" #name,
#define SIDELIGHT_POLLED(name, ...) "PMPI_" #name,
#define SIDELIGHT_STARTED(name, ...) "PMPI_" #name,
#define SIDELIGHT_MADE(name, ...) "PMPI_" #name,
#define SIDELIGHT_OF_LIFE(name, ...) "PMPI_" #name,
#define SIDELIGHT_OF_REQUESTS(name, ...) "PMPI_" #name,
#include "messages/calls.def"
};

/// Serves a call that nobody has.
Word nobody() noexcept { return MPI_ERR_OTHER; }

} // namespace

Named* find_below(Call call) noexcept
{
    void* found = host::mpi::find_symbol(names[static_cast<std::size_t>(call)]);
    return found != nullptr ? reinterpret_cast<Named*>(found) : reinterpret_cast<Named*>(&nobody);
}

void* find_sidelight(const char* name) noexcept { return dlsym(RTLD_NEXT, name); }

ThreadCalls find_thread_calls() noexcept
{
    return {.start = reinterpret_cast<decltype(ThreadCalls::start)>(
                find_sidelight("sidelight_start_own_threads")),
            .leave_out = reinterpret_cast<decltype(ThreadCalls::leave_out)>(
                find_sidelight("sidelight_leave_out_this_thread"))};
}

AskStatus* find_status_of_host() noexcept
{
    return reinterpret_cast<AskStatus*>(host::mpi::find_in_host("PMPI_Request_get_status"));
}

} // namespace sidelight::messages
