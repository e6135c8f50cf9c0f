// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/life.hpp"

#include "api/entry.hpp"
#include "base/heavy_barrier.hpp"
#include "base/settings.hpp"
#include "host/library_threads.hpp"
#include "host/mpi/errors.hpp"
#include "host/mpi/table.hpp"
#include "runtime/translated_group.hpp"

/// The calls of MPI's own life that the library must know of; which threads the host starts in
/// them, too.
using namespace sidelight;
using namespace sidelight::runtime;
using host::mpi::table;

namespace {

/// MPI is about to be started: the host may start threads in it.
class Starting {
public:
    Starting() noexcept
    {
        if (settings().enable) { // else no window is ours
            allow_heavy_barriers_early();
        }
    }

private:
    host::LibraryThreads of_the_host_;
};

int opened(int code) noexcept
{
    if (code == MPI_SUCCESS) {
        world_opened();
    }
    return code;
}

} // namespace

SIDELIGHT_OWN int own_Init(int* argc, char*** argv)
{
    const Starting starting;
    return opened(table().Init(argc, argv));
}

SIDELIGHT_OWN int own_Init_thread(int* argc, char*** argv, int required, int* provided)
{
    const Starting starting;
    return opened(table().Init_thread(argc, argv, required, provided));
}

SIDELIGHT_OWN int own_Finalize(void)
{
    begin_finalize();
    const int code = table().Finalize();
    end_finalize();
    return code;
}

SIDELIGHT_OWN int own_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session)
{
    if (table().Session_init == nullptr) {
        return host::mpi::answer(Status::unsupported);
    }
    const Starting starting;
    const int code = table().Session_init(info, errhandler, session);
    if (code == MPI_SUCCESS) {
        session_opened(*session);
    }
    return code;
}

SIDELIGHT_OWN int own_Session_finalize(MPI_Session* session)
{
    if (table().Session_finalize == nullptr) {
        return host::mpi::answer(Status::unsupported);
    }
    if (session == nullptr || *session == MPI_SESSION_NULL) { // the host refuses it
        return table().Session_finalize(session);
    }
    begin_session_finalize();
    const int code = table().Session_finalize(session);
    end_session_finalize(code != MPI_SUCCESS);
    return code;
}

/// The host may give the handle to another group.
SIDELIGHT_OWN int own_Group_free(MPI_Group* group)
{
    TranslatedGroup::forget_all();
    return table().Group_free(group);
}
