// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/life.hpp"

#include <atomic>

#include "datatype/mpi/cache.hpp"
#include "host/mpi/communicator_key.hpp"
#include "host/mpi/completed_request.hpp"
#include "host/mpi/handle.hpp"
#include "host/mpi/table.hpp"
#include "host/node/node_communicator_cache.hpp"
#include "host/open_sessions.hpp"
#include "runtime/runtime.hpp"
#include "runtime/thread_level.hpp"

namespace sidelight::runtime {

namespace {

host::OpenSessions sessions;

/// MPI_Finalize calls `end_with_self`.
std::atomic<bool> attached{false};

/// Null: for nobody.
void lend(MPI_Comm comm) noexcept
{
    datatype::set_commit_probe(comm);
    host::mpi::CompletedRequest::use(comm);
}

/// Whether the communicator of the process alone may be freed while it is in use.
bool may_lose_communicator() noexcept { return sessions.any() && threads_possible(); }

/// The next window lends another.
void give_up_communicator() noexcept
{
    lend(MPI_COMM_NULL);
    host::mpi::free_own_communicator();
}

/// To windows that are there already.
void lend_again() noexcept
{
    if (Runtime::existing() != nullptr) {
        lend_communicator();
    }
}

/// Others may wait for what is left of epochs whose calls have returned early.
void drain() noexcept
{
    if (Runtime* runtime = Runtime::existing(); runtime != nullptr) {
        runtime->drain();
    }
}

/// MPI_Finalize asks for no MPI_Win_free before: a target that is done may have origins that are
/// not.
void meet_in_windows() noexcept
{
    if (Runtime* runtime = Runtime::existing(); runtime != nullptr) {
        runtime->meet_in_windows();
    }
}

void close_down(Runtime::GoesOn rest) noexcept
{
    if (Runtime* runtime = Runtime::existing(); runtime != nullptr) {
        runtime->stop(rest);
    }
    datatype::close_cache();
    host::node::forget_node_communicators();
    give_up_communicator();
}

/// Windows that are there already are of sessions. One thread at a time: while none begins or ends.
void learn_threads() noexcept
{
    if (may_lose_communicator()) {
        lend(MPI_COMM_NULL); // who holds the engine with it is waited for below
    }
    if (Runtime* runtime = Runtime::made(); runtime != nullptr) {
        runtime->learn_threads();
    }
}

void close_world() noexcept
{
    drain();
    sessions.end_world(
        [](bool last) { close_down(last ? Runtime::GoesOn::nothing : Runtime::GoesOn::sessions); });
}

/// The host may refuse to end a session that has windows left, and go on.
void close_last_session() noexcept
{
    Runtime* runtime = Runtime::existing();
    const bool has_windows = runtime != nullptr && runtime->has_windows();
    close_down(has_windows ? Runtime::GoesOn::windows : Runtime::GoesOn::nothing);
}

extern "C" {

int end_with_self(MPI_Comm, int, void*, void*)
{
    attached.store(false, std::memory_order_relaxed);
    meet_in_windows();
    close_world();
    return MPI_SUCCESS;
}

} // extern "C"

/// MPI_Finalize begins with the delete callbacks of MPI_COMM_SELF, the latest first, and all of MPI
/// may be called in them (MPI-4.1, 11.2.4). Those of the program may use and free windows, so the
/// library ends behind them. One that was loaded after MPI_Init ends before them.
void attach_to_self() noexcept
{
    const auto& mpi = host::mpi::table();
    int key = host::mpi::create_communicator_key(end_with_self);
    if (key == MPI_KEYVAL_INVALID) {
        return;
    }
    attached.store(mpi.Comm_set_attr(MPI_COMM_SELF, key, nullptr) == MPI_SUCCESS,
                   std::memory_order_relaxed);
    mpi.Comm_free_keyval(&key); // goes with the attribute
}

} // namespace

bool mpi_is_up() noexcept { return host::mpi::world_is_up() || sessions.any(); }

bool is_world_alone() noexcept { return host::mpi::world_is_up() && !sessions.any(); }

void lend_communicator() noexcept
{
    if (!may_lose_communicator()) {
        lend(host::mpi::own_communicator());
    }
    if (may_lose_communicator()) { // perhaps since then
        lend(MPI_COMM_NULL);
    }
}

void begin_finalize() noexcept
{
    if (Runtime* runtime = Runtime::existing(); runtime != nullptr) {
        runtime->helpers().begin_finalize();
    }
    if (!attached.load(std::memory_order_relaxed)) {
        close_world();
    }
}

void end_finalize() noexcept
{
    if (Runtime* runtime = Runtime::existing(); runtime != nullptr) {
        sessions.hold([runtime](bool any) { runtime->helpers().end_finalize(any); });
    }
}

void world_opened() noexcept
{
    attach_to_self();
    sessions.hold([](bool any) {
        learn_threads();
        if (any) {
            give_up_communicator(); // it would go with a session
            lend_again();
        }
    });
}

/// While MPI is down there is nothing to change: what opens next learns of the level.
void program_level_told(int level) noexcept
{
    learn_program_level(level);
    if (mpi_is_up()) {
        sessions.hold([](bool) { learn_threads(); });
    }
}

void session_opened(MPI_Session session) noexcept
{
    sessions.begin([session] {
        learn_session(session);
        learn_threads();
    });
}

void begin_session_finalize() noexcept
{
    drain();
    const bool world_is_up = host::mpi::world_is_up();
    sessions.end(world_is_up, [world_is_up](bool last) {
        if (last) {
            close_last_session();
        } else if (world_is_up) {
            lend_again(); // beside this session nobody had it, perhaps
        } else {
            give_up_communicator(); // it may come from this session
        }
    });
}

void end_session_finalize(bool refused) noexcept
{
    sessions.ended(refused, [] {
        learn_threads();
        if (Runtime* runtime = Runtime::existing(); runtime != nullptr && runtime->has_windows()) {
            runtime->helpers().start();
        }
    });
}

} // namespace sidelight::runtime
