// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <atomic>
#include <string_view>

#include "api/entry.hpp"
#include "api/runtime.hpp"
#include "api/translated_group.hpp"
#include "datatype/mpi/cache.hpp"
#include "host/mpi/errors.hpp"
#include "host/mpi/handle.hpp"
#include "host/mpi/table.hpp"
#include "host/node/node_communicator_cache.hpp"

/// The calls of MPI's own life that the library must know of (MPI-4.1, 11.2 and 11.3): before the
/// host ends, it takes its hook out of the host's loop and its keys off the host's datatypes.
using namespace sidelight;
using namespace sidelight::api;
using host::mpi::table;

namespace {

/// Sessions that are open. Relaxed: MPI forbids to end the last one beside any other call.
std::atomic<int> sessions{0};

/// Whether the session has MPI_THREAD_MULTIPLE, also where the host does not tell.
bool may_use_threads(MPI_Session session) noexcept
{
    const auto& mpi = table();
    MPI_Info info = MPI_INFO_NULL;
    if (mpi.Session_get_info == nullptr || mpi.Session_get_info(session, &info) != MPI_SUCCESS ||
        info == MPI_INFO_NULL) {
        return true;
    }
    std::array<char, 64> level{};
    int flag = 0;
    const int code =
        mpi.Info_get(info, "thread_level", static_cast<int>(level.size()) - 1, level.data(), &flag);
    mpi.Info_free(&info);
    const std::string_view known = level.data();
    return code != MPI_SUCCESS || flag == 0 ||
           (known != "MPI_THREAD_SINGLE" && known != "MPI_THREAD_FUNNELED" &&
            known != "MPI_THREAD_SERIALIZED");
}

/// Windows that live on find another when they need one.
void give_up_communicator() noexcept
{
    datatype::set_commit_probe(MPI_COMM_NULL);
    host::mpi::free_own_communicator();
    window_table::for_each([](WindowObject& object, void*) { object.own = MPI_COMM_NULL; },
                           nullptr);
}

/// `for_good`: no session goes on with windows of its own.
void close_down(bool for_good) noexcept
{
    if (Runtime* runtime = Runtime::existing(); runtime != nullptr) {
        if (for_good) {
            runtime->close_network();
        }
        runtime->stop_progress();
    }
    datatype::close_cache();
    host::node::forget_node_communicators();
    give_up_communicator();
}

} // namespace

SIDELIGHT_ENTRY int MPI_Finalize(void)
{
    const bool any_session = sessions.load(std::memory_order_relaxed) > 0;
    close_down(!any_session);
    const int code = table().Finalize();
    if (any_session) {
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
        Runtime::learn_session(may_use_threads(*session));
    }
    return code;
}
SIDELIGHT_PROFILED(Session_init);

SIDELIGHT_ENTRY int MPI_Session_finalize(MPI_Session* session)
{
    if (table().Session_finalize == nullptr) {
        return host::mpi::answer(Status::unsupported);
    }
    if (!host::mpi::world_is_up()) {
        if (sessions.load(std::memory_order_relaxed) == 1) {
            close_down(true);
        } else {
            give_up_communicator(); // it may come from this session
        }
    }
    const int code = table().Session_finalize(session);
    if (code == MPI_SUCCESS) {
        sessions.fetch_sub(1, std::memory_order_relaxed);
    }
    return code;
}
SIDELIGHT_PROFILED(Session_finalize);

/// The host may give the handle to another group.
SIDELIGHT_ENTRY int MPI_Group_free(MPI_Group* group)
{
    TranslatedGroup::forget_all();
    return table().Group_free(group);
}
SIDELIGHT_PROFILED(Group_free);
