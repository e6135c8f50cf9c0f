// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>

#include "api/entry.hpp"
#include "api/runtime.hpp"
#include "api/translated_group.hpp"
#include "datatype/mpi/cache.hpp"
#include "host/mpi/errors.hpp"
#include "host/mpi/handle.hpp"
#include "host/mpi/table.hpp"

/// The calls of MPI's own life that the library must know of (MPI-4.1, 11.2 and 11.3): before the
/// host ends, it takes its hook out of the host's loop and its keys off the host's datatypes.
using namespace sidelight;
using namespace sidelight::api;
using host::mpi::table;

namespace {

/// Sessions that are open. Relaxed: MPI forbids to end the last one beside any other call.
std::atomic<int> sessions{0};

void close_down() noexcept
{
    if (Runtime* runtime = Runtime::existing(); runtime != nullptr) {
        runtime->stop_progress();
    }
    datatype::set_commit_probe(MPI_COMM_NULL);
    datatype::close_cache();
    host::mpi::free_own_communicator();
}

} // namespace

SIDELIGHT_ENTRY int MPI_Finalize(void)
{
    close_down();
    const int code = table().Finalize();
    if (sessions.load(std::memory_order_relaxed) > 0) {
        // Windows of sessions go on.
        if (Runtime* runtime = Runtime::existing(); runtime != nullptr) {
            runtime->start_progress();
        }
    }
    return code;
}
SIDELIGHT_PROFILED(Finalize);

SIDELIGHT_ENTRY int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session)
{
    if (table().Session_init == nullptr) {
        return host::mpi::answer(Status::unsupported);
    }
    const int code = table().Session_init(info, errhandler, session);
    if (code == MPI_SUCCESS) {
        sessions.fetch_add(1, std::memory_order_relaxed);
    }
    return code;
}
SIDELIGHT_PROFILED(Session_init);

SIDELIGHT_ENTRY int MPI_Session_finalize(MPI_Session* session)
{
    if (table().Session_finalize == nullptr) {
        return host::mpi::answer(Status::unsupported);
    }
    if (sessions.fetch_sub(1, std::memory_order_relaxed) == 1 && !host::mpi::world_is_up()) {
        close_down();
    }
    return table().Session_finalize(session);
}
SIDELIGHT_PROFILED(Session_finalize);

/// The host may give the handle to another group.
SIDELIGHT_ENTRY int MPI_Group_free(MPI_Group* group)
{
    TranslatedGroup::forget_all();
    return table().Group_free(group);
}
SIDELIGHT_PROFILED(Group_free);
