// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/life.hpp"

#include <atomic>

#include "datatype/mpi/cache.hpp"
#include "host/mpi/handle.hpp"
#include "host/mpi/table.hpp"
#include "host/node/node_communicator_cache.hpp"
#include "runtime/runtime.hpp"
#include "runtime/thread_level.hpp"
#include "runtime/window_table.hpp"

namespace sidelight::runtime {

namespace {

/// Sessions that are open. Relaxed: MPI forbids to end the last one beside any other call.
std::atomic<int> sessions{0};

bool any_session() noexcept { return sessions.load(std::memory_order_relaxed) > 0; }

/// Windows that live on find another when they need one.
void give_up_communicator() noexcept
{
    datatype::set_commit_probe(MPI_COMM_NULL);
    host::mpi::free_own_communicator();
    window_table::for_each([](WindowObject& object, void*) { object.own = MPI_COMM_NULL; },
                           nullptr);
}

/// Others may wait for what is left of epochs whose calls have returned early.
void drain() noexcept
{
    if (Runtime* runtime = Runtime::existing(); runtime != nullptr) {
        runtime->drain();
    }
}

/// `for_good`: no session goes on with windows of its own.
void close_down(bool for_good) noexcept
{
    if (Runtime* runtime = Runtime::existing(); runtime != nullptr) {
        runtime->stop(for_good);
    }
    datatype::close_cache();
    host::node::forget_node_communicators();
    give_up_communicator();
}

} // namespace

bool mpi_is_up() noexcept { return host::mpi::world_is_up() || any_session(); }

void begin_finalize() noexcept
{
    drain();
    close_down(!any_session());
}

void end_finalize() noexcept
{
    Runtime* runtime = Runtime::existing();
    if (runtime != nullptr && any_session()) {
        runtime->helpers().start();
    }
}

/// There may be windows of sessions.
void world_opened() noexcept
{
    if (Runtime* runtime = Runtime::existing(); runtime != nullptr) {
        runtime->learn_threads();
    }
}

void session_opened(MPI_Session session) noexcept
{
    sessions.fetch_add(1, std::memory_order_relaxed);
    learn_session(session);
    if (Runtime* runtime = Runtime::existing(); runtime != nullptr) {
        runtime->learn_threads();
    }
}

void begin_session_finalize() noexcept
{
    drain();
    if (host::mpi::world_is_up()) {
        return;
    }
    if (sessions.load(std::memory_order_relaxed) == 1) {
        close_down(true);
    } else {
        give_up_communicator(); // it may come from this session
    }
}

void session_closed() noexcept { sessions.fetch_sub(1, std::memory_order_relaxed); }

} // namespace sidelight::runtime
