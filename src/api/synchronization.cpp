// SPDX-License-Identifier: BSD-3-Clause
#include "api/entry.hpp"
#include "api/host_call.hpp"
#include "api/parameter_lists.hpp"
#include "api/pass_through.hpp"
#include "api/synchronization_call.hpp"
#include "api/traced_call.hpp"
#include "base/cpu.hpp"
#include "base/last_access.hpp"
#include "host/mpi/fit.hpp"
#include "host/mpi/progress.hpp"

/// The blocking synchronisation calls: the nonblocking ones, and a wait.
using namespace sidelight;
using namespace sidelight::api;
using namespace sidelight::runtime;
using host::mpi::fits_host;
using host::mpi::table;

namespace {

/// The blocking form of a call.
template <class Call, class... Arguments>
[[gnu::noinline]] int block_with_engine(MPI_Win win, Arguments... arguments) noexcept
{
    if constexpr (Call::settles_locks) {
        if (LockOrder::is_open() && !HandlerCaller::inside()) [[unlikely]] {
            Runtime::existing()->lock_order().settle();
        }
    }
    WindowObject* object = window_table::find(win);
    if (object == nullptr) [[unlikely]] {
        return pass_through(win, [&] { return call_host<Call>(win, arguments...); });
    }
    if (!has_call<Call>(*object)) [[unlikely]] {
        return host::mpi::answer_window(Status::rma_sync, win);
    }
    if constexpr (Call::flushes) {
        LastAccess::synchronized();
    }
    return Runtime::existing()->blocking(
        *object, [&](Request* request) { return Call::begin(*object, arguments..., request); });
}

/// The way of a call whose window is not in the cache: those that are traced never are.
template <class Call, trace::CallKind call, class... Arguments>
int block_uncached(const void* from, MPI_Win win, Arguments... arguments) noexcept
{
    const TracedCall traced(call, false, win, rank_among<call>(arguments...), from);
    return traced.left(block_with_engine<Call>(win, arguments...));
}

/// The whole way of a call that has entered the engine in vain, and has changed nothing.
template <class Call, class... Arguments>
[[gnu::noinline]] int leave_and_block(MPI_Win win, Arguments... arguments) noexcept
{
    // It may be shared by now, if another thread has raised the level of MPI.
    Runtime::existing()->engine().lock().release_unshared();
    return block_with_engine<Call>(win, arguments...);
}

/// The end of a call that is over, but has sent something.
[[gnu::noinline]] int leave_and_push() noexcept
{
    Engine& engine = Runtime::existing()->engine();
    engine.process().push();
    engine.lock().release();
    Runtime::pass_by();
    return MPI_SUCCESS;
}

/// What is over at once, else the whole way. The steps of an EngineToken, one by one: what is rare
/// ends the call, so that it need keep nothing in registers for that. Where all threads take one
/// lock the whole way is as short. What a handler calls is refused there.
template <class Call, class... Arguments>
[[gnu::always_inline]] inline int block(WindowKey& window, MPI_Win win,
                                        Arguments... arguments) noexcept
{
    if (HandlerCaller::inside()) [[unlikely]] {
        return block_with_engine<Call>(win, arguments...);
    }
    if constexpr (Call::needs_engine) {
        Engine& engine = Runtime::existing()->engine();
        if (engine.lock().shared()) [[unlikely]] {
            return block_with_engine<Call>(win, arguments...);
        }
        if (!engine.lock().acquire_unclaimed() || !Call::at_once(window, arguments...))
            [[unlikely]] {
            return leave_and_block<Call>(win, arguments...);
        }
        if (engine.process().must_push()) [[unlikely]] {
            return leave_and_push();
        }
        engine.lock().release_unshared();
    } else if (!Call::at_once(window, arguments...)) [[unlikely]] {
        return block_with_engine<Call>(win, arguments...);
    }
    if constexpr (Call::flushes) {
        LastAccess::synchronized();
    }
    Runtime::pass_by();
    return MPI_SUCCESS;
}

} // namespace

#define SIDELIGHT_SYNCHRONIZATION(name, Call, parameters)                                          \
    [[gnu::noinline]] static int uncached_##name(parameters(SIDELIGHT_DECLARE_WORD)                \
                                                     Word win) noexcept                            \
    {                                                                                              \
        return fits_host() ? block_uncached<Call, trace::CallKind::name>(                          \
                                 __builtin_return_address(0),                                      \
                                 narrowed<MPI_Win>(win) parameters(SIDELIGHT_NARROW_AFTER))        \
                           : as_it_came<Call::host>(parameters(SIDELIGHT_PASS) win);               \
    }                                                                                              \
    SIDELIGHT_WORDS(Win_##name, parameters(SIDELIGHT_DECLARE_WORD) Word win)                       \
    {                                                                                              \
        WindowKey* window = window_table::find_key<!Call::flushes>(narrowed<MPI_Win>(win));        \
        if (window == nullptr) [[unlikely]] {                                                      \
            return uncached_##name(parameters(SIDELIGHT_PASS) win);                                \
        }                                                                                          \
        return block<Call>(*window, narrowed<MPI_Win>(win) parameters(SIDELIGHT_NARROW_AFTER));    \
    }
#include "api/synchronization.def"

static int test(MPI_Win win, int* flag) noexcept
{
    WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_through(win, [&] { return table().Win_test(win, flag); });
    }
    if (flag == nullptr || object->region != nullptr) {
        return host::mpi::answer_window(flag == nullptr ? Status::argument : Status::rma_sync, win);
    }
    if (HandlerCaller::inside()) {
        return host::mpi::answer_window(Status::unsupported, win);
    }
    Runtime& runtime = *Runtime::existing();
    bool over = false;
    const auto test = [&] {
        const EngineToken token(runtime.engine());
        return object->window->test(over);
    };
    Status status = test();
    if (!over && status == Status::ok) {
        // Who knows that the origins have completed, by a barrier perhaps, may expect the answer
        // (MPI-4.1, 12.5.2).
        runtime.waiting().sweep_for_all();
        status = test();
    }
    if (over || status == Status::ok) {
        *flag = over ? 1 : 0; // also with an error: the epoch is over when an origin is lost
    }
    if (status != Status::ok) {
        return host::mpi::answer_window(status, win);
    }
    if (!over) {
        host::mpi::poll_host();
    }
    return MPI_SUCCESS;
}

/// A program may call it without end, so what has not ended an exposure is not in a trace.
SIDELIGHT_OWN int own_Win_test(MPI_Win win, int* flag)
{
    const int code = test(win, flag);
    if (code == MPI_SUCCESS && *flag == 0) {
        return code;
    }
    return TracedCall(trace::CallKind::test, false, win, -1, __builtin_return_address(0))
        .left(code);
}

/// Orders the program's loads and stores against RMA of others (MPI-4.1, 12.7), and is where a loop
/// that polls memory lets the engine progress.
SIDELIGHT_OWN int own_Win_sync(MPI_Win win)
{
    const WindowObject* object = window_table::find(win);
    if (object == nullptr) {
        return pass_through(win, [&] { return table().Win_sync(win); });
    }
    if (object->region != nullptr) {
        return host::mpi::answer_window(Status::rma_sync, win);
    }
    full_barrier();
    LastAccess::synchronized();
    Runtime& runtime = *Runtime::existing();
    if (runtime.engine().process().busy() && !HandlerCaller::inside()) {
        runtime.waiting().sweep();
    }
    Runtime::pass_by();
    return MPI_SUCCESS;
}
