// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/mpi/table.hpp"
#include "rma/operation/mapped.hpp"
#include "runtime/runtime.hpp"

/// What each row of synchronization.def does; both forms of a call are made of it
/// (synchronization.cpp, nonblocking.cpp). A type has:
///
/// - `host`: the host's blocking call, and `on_host`: how its windows get the nonblocking one.
/// - `start`: checks and translates the arguments and calls the engine, which the caller holds. The
///   whole of the nonblocking form.
/// - `begin`: the same for the blocking form, which then waits for the request.
/// - `at_once`: that form again, for what is over in some nanoseconds. Answers whether it was; if
///   not, nothing has changed. `needs_engine`: whether the caller must hold the engine; others can
///   send nothing. `flushes`: whether the window of a memory handle has it.
namespace sidelight::api {

using host::mpi::Table;

using rma::Request;
using runtime::Engine;
using runtime::EngineToken;
using runtime::LockOrder;
using runtime::Runtime;
using runtime::Waiting;
using runtime::WindowKey;
using runtime::WindowObject;

/// The nonblocking form on a window of the host, which has none: an opening call is the blocking
/// one, complete when it returns; MPI_Win_wait is a request that tests; closing calls and flushes
/// the host cannot do without blocking.
enum class OnHost : std::uint8_t { opens, tests, refuses };

/// What most calls are.
template <auto host_call, OnHost host_way>
struct Synchronization {
    static constexpr auto host = host_call;
    static constexpr OnHost on_host = host_way;
    static constexpr bool settles_locks = false;
    static constexpr bool asserts = false; ///< its last argument is an assertion that may be ours
    static constexpr bool needs_engine = true;
    static constexpr bool flushes = false;

    template <class... Arguments>
    static bool at_once(WindowKey& /*window*/, Arguments... /*arguments*/) noexcept
    {
        return false;
    }
};

/// Whether a window has the call: that of a memory handle has flushes, and its parent all others
/// (P2, section 4.2).
template <class Call>
[[nodiscard]] bool has_call(const WindowObject& object) noexcept
{
    return Call::flushes || object.region == nullptr;
}

struct Fence : Synchronization<&Table::Win_fence, OnHost::refuses> {
    static constexpr bool asserts = true;
    [[gnu::always_inline]] static bool at_once(WindowKey& window, int assertion) noexcept
    {
        return assertion == 0 && window.window->settled().fence(Waiting::polls_of_memory());
    }
    static Status start(WindowObject& object, int assertion, Request* request) noexcept;
    static Status begin(WindowObject& object, int assertion, Request* request) noexcept;
};

struct Post : Synchronization<&Table::Win_post, OnHost::opens> {
    [[gnu::always_inline]] static bool at_once(WindowKey& window, MPI_Group group,
                                               int assertion) noexcept
    {
        auto& object = static_cast<WindowObject&>(window);
        return (assertion & ~(MPI_MODE_NOSTORE | MPI_MODE_NOPUT)) == 0 &&
               object.post_group.knows(group) &&
               object.window->settled().post(object.post_group.ranks());
    }
    static Status start(WindowObject& object, MPI_Group group, int assertion,
                        Request* request) noexcept;
    static constexpr auto* begin = &start;
};

struct Start : Synchronization<&Table::Win_start, OnHost::opens> {
    static constexpr bool asserts = true;
    [[gnu::always_inline]] static bool at_once(WindowKey& window, MPI_Group group,
                                               int assertion) noexcept
    {
        auto& object = static_cast<WindowObject&>(window);
        return assertion == 0 && object.start_group.knows(group) &&
               object.window->settled().start(object.start_group.ranks(),
                                              Waiting::polls_of_memory());
    }
    static Status start(WindowObject& object, MPI_Group group, int assertion,
                        Request* request) noexcept;
    static Status begin(WindowObject& object, MPI_Group group, int assertion,
                        Request* request) noexcept;
};

struct Complete : Synchronization<&Table::Win_complete, OnHost::refuses> {
    [[gnu::always_inline]] static bool at_once(WindowKey& window) noexcept
    {
        return window.window->settled().complete();
    }
    static Status start(WindowObject& object, Request* request) noexcept;
    static Status begin(WindowObject& object, Request* request) noexcept;
};

struct Wait : Synchronization<&Table::Win_wait, OnHost::tests> {
    [[gnu::always_inline]] static bool at_once(WindowKey& window) noexcept
    {
        return window.window->settled().wait(Waiting::polls_of_memory());
    }
    static Status start(WindowObject& object, Request* request) noexcept;
    static Status begin(WindowObject& object, Request* request) noexcept;
};

struct Lock : Synchronization<&Table::Win_lock, OnHost::opens> {
    static constexpr bool asserts = true;
    static constexpr bool settles_locks = true;

    [[gnu::always_inline]] static bool at_once(WindowKey& window, int lock_type, int rank,
                                               int assertion) noexcept
    {
        const bool known = lock_type == MPI_LOCK_EXCLUSIVE || lock_type == MPI_LOCK_SHARED;
        const auto type =
            lock_type == MPI_LOCK_EXCLUSIVE ? rma::LockType::exclusive : rma::LockType::shared;
        return known && assertion == 0 && !LockOrder::is_open() &&
               window.window->settled().lock(type, rank);
    }
    static Status start(WindowObject& object, int lock_type, int rank, int assertion,
                        Request* request) noexcept;
    static Status begin(WindowObject& object, int lock_type, int rank, int assertion,
                        Request* request) noexcept;
};

struct Unlock : Synchronization<&Table::Win_unlock, OnHost::refuses> {
    [[gnu::always_inline]] static bool at_once(WindowKey& window, int rank) noexcept
    {
        return window.window->settled().unlock(rank);
    }
    static Status start(WindowObject& object, int rank, Request* request) noexcept;
    static Status begin(WindowObject& object, int rank, Request* request) noexcept;
};

struct LockAll : Synchronization<&Table::Win_lock_all, OnHost::opens> {
    static constexpr bool asserts = true;
    static constexpr bool settles_locks = true;
    static bool at_once(WindowKey& window, int assertion) noexcept;
    static Status start(WindowObject& object, int assertion, Request* request) noexcept;
    static Status begin(WindowObject& object, int assertion, Request* request) noexcept;
};

struct UnlockAll : Synchronization<&Table::Win_unlock_all, OnHost::refuses> {
    static bool at_once(WindowKey& window) noexcept;
    static Status start(WindowObject& object, Request* request) noexcept;
    static Status begin(WindowObject& object, Request* request) noexcept;
};

/// Flushes of one rank: where nothing is pending they are for all threads, and need no engine.
struct Flush : Synchronization<&Table::Win_flush, OnHost::refuses> {
    static constexpr bool needs_engine = false;
    static constexpr bool flushes = true;

    [[gnu::always_inline]] static bool at_once(WindowKey& window, int rank) noexcept
    {
        return window.mapped->flush(rank);
    }
    static Status start(WindowObject& object, int rank, Request* request) noexcept;
    static constexpr auto* begin = &start;
};

struct FlushLocal : Synchronization<&Table::Win_flush_local, OnHost::refuses> {
    static constexpr bool needs_engine = false;
    static constexpr bool flushes = true;

    [[gnu::always_inline]] static bool at_once(WindowKey& window, int rank) noexcept
    {
        return window.mapped->flush_local(rank);
    }
    static Status start(WindowObject& object, int rank, Request* request) noexcept;
    static constexpr auto* begin = &start;
};

struct FlushAll : Synchronization<&Table::Win_flush_all, OnHost::refuses> {
    static constexpr bool flushes = true;

    static Status start(WindowObject& object, Request* request) noexcept;
    static constexpr auto* begin = &start;
};

struct FlushLocalAll : Synchronization<&Table::Win_flush_local_all, OnHost::refuses> {
    static constexpr bool flushes = true;

    static Status start(WindowObject& object, Request* request) noexcept;
    static constexpr auto* begin = &start;
};

} // namespace sidelight::api
