// SPDX-License-Identifier: BSD-3-Clause
#include "host/mpi/progress.hpp"

#include <atomic>

#include <sched.h>

#include "host/mpi/requests.hpp"
#include "host/mpi/table.hpp"
#include "host/mpi/worker_hook.hpp"

namespace sidelight::host::mpi {

namespace {

using Sweep = bool(bool host_moved) noexcept;

/// How often `stop_hook` lets the host progress for its last call of the hook.
constexpr int stop_attempts = 1000;

enum class HookState : std::uint8_t { none, registered, stopping };

std::atomic<Sweep*> host_sweep{nullptr};
std::atomic<HookState> hook{
    HookState::none}; ///< relaxed but for MPICH's last call: release, acquire
thread_local bool is_inside = false;
thread_local bool left_out = false;
thread_local bool is_polling = false;
std::atomic<unsigned> sweeps{0}; ///< for the host's loop, by any thread; relaxed: a hint

/// Sweeps for the host's loop. Cheap when there is nothing to do.
bool sweep_inside(bool host_moved) noexcept
{
    if (left_out) [[unlikely]] {
        return false;
    }
    is_inside = true;
    const bool moved = host_sweep.load(std::memory_order_acquire)(host_moved);
    is_inside = false;
    sweeps.store(sweeps.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return moved;
}

/// Open MPI: callbacks of its event loop.
struct OpalProgress {
    using Callback = int (*)();
    int (*add)(Callback) = nullptr;
    int (*remove)(Callback) = nullptr;
    void (*run)() = nullptr;
};

template <typename Function>
void find(const char* name, Function*& function) noexcept
{
    function = reinterpret_cast<Function*>(find_symbol(name));
}

const OpalProgress& opal_progress() noexcept
{
    static const OpalProgress found = [] {
        OpalProgress symbols;
        find("opal_progress_register", symbols.add);
        find("opal_progress_unregister", symbols.remove);
        find("opal_progress", symbols.run);
        return symbols;
    }();
    return found;
}

int opal_callback() noexcept { return sweep_inside(false) ? 1 : 0; }

/// MPICH from 4.3 on: things that its progress loop polls.
#ifdef MPIX_STREAM_NULL

// Spelt out, because MPICH 4.1 and 4.2 have streams but not these.
using AsyncPoll = int(void* thing) noexcept;
using AsyncStart = int(AsyncPoll*, void*, MPIX_Stream);
constexpr int async_no_progress = 0;
constexpr int async_done = 1;

/// NOPROGRESS also when something moved: what moved has completed requests, which the loop sees,
/// and any other answer would keep it from its own work.
int async_callback(void* /*thing*/) noexcept
{
    // In one step: `start_hook` may want it back at this very moment.
    HookState seen = HookState::stopping;
    if (hook.load(std::memory_order_relaxed) == seen &&
        hook.compare_exchange_strong(seen, HookState::none, std::memory_order_acq_rel)) {
        return async_done;
    }
    sweep_inside(false);
    return async_no_progress;
}

bool start_async() noexcept
{
    AsyncStart* start = nullptr;
    find("MPIX_Async_start", start);
    return start != nullptr && start(async_callback, nullptr, MPIX_STREAM_NULL) == MPI_SUCCESS;
}

#else

bool start_async() noexcept { return false; }

#endif

/// MPICH before that, on UCX. Relaxed: set before the first sweep by that way.
std::atomic<bool> is_on_worker{false};

bool start_on_worker() noexcept
{
    if (!has_worker_hook()) {
        return false;
    }
    is_on_worker.store(true, std::memory_order_relaxed);
    set_worker_hook(sweep_inside);
    return true;
}

/// Who has `idle`. One thread that polls the host is enough, so the others do not wait.
std::atomic<bool> idle_taken{false};
/// Asked for while it is incomplete, which makes any host progress. An Iprobe on a communicator of
/// one process does not: MPICH looks among its own messages and returns.
MPI_Request idle = MPI_REQUEST_NULL;

/// Whether the host has progressed since this was last asked: some thread is in it then. To queue
/// for the host's lock behind one that waits in there would only hold up both.
bool host_progresses() noexcept
{
    static std::atomic<unsigned> last{0};
    const unsigned now = sweeps.load(std::memory_order_relaxed);
    return last.exchange(now, std::memory_order_relaxed) != now;
}

void poll_idle_request() noexcept
{
    if (idle_taken.exchange(true, std::memory_order_acquire)) {
        return;
    }
    if (idle != MPI_REQUEST_NULL || start_idle_request(&idle) == Status::ok) {
        int flag = 0;
        table().Request_get_status(idle, &flag, MPI_STATUS_IGNORE);
    }
    idle_taken.store(false, std::memory_order_release);
}

void drop_idle_request() noexcept
{
    while (idle_taken.exchange(true, std::memory_order_acquire)) {
        sched_yield();
    }
    if (idle != MPI_REQUEST_NULL) {
        end_idle_request(&idle);
    }
    idle_taken.store(false, std::memory_order_release);
}

/// MPICH: until its loop has heard that the sweep is over.
void stop_async() noexcept
{
    hook.store(HookState::stopping, std::memory_order_release);
    for (int attempt = 0;
         attempt < stop_attempts && hook.load(std::memory_order_acquire) != HookState::none;
         ++attempt) {
        poll_host();
    }
}

} // namespace

void poll_host() noexcept
{
    if (is_inside) {
        return;
    }
    is_polling = true;
    if (opal_progress().run != nullptr) {
        opal_progress().run();
    } else if (!host_progresses()) {
        poll_idle_request();
        static_cast<void>(host_progresses()); // but for this poll itself
    }
    is_polling = false;
}

bool start_hook(bool (*sweep)(bool host_moved) noexcept) noexcept
{
    host_sweep.store(sweep, std::memory_order_release);
    HookState before = hook.exchange(HookState::registered, std::memory_order_acq_rel);
    if (before != HookState::none) {
        return true;
    }
    const bool started = opal_progress().add != nullptr ? opal_progress().add(opal_callback) == 0
                                                        : start_async() || start_on_worker();
    if (!started) {
        hook.store(HookState::none, std::memory_order_relaxed);
    }
    return started;
}

void stop_hook() noexcept
{
    if (opal_progress().remove != nullptr) {
        if (hook.exchange(HookState::none, std::memory_order_acq_rel) != HookState::none) {
            opal_progress().remove(opal_callback);
        }
    } else if (is_on_worker.exchange(false, std::memory_order_relaxed)) {
        set_worker_hook(nullptr);
        hook.store(HookState::none, std::memory_order_release);
    } else if (hook.load(std::memory_order_acquire) == HookState::registered) {
        stop_async();
    }
    drop_idle_request();
}

bool hook_ends_first() noexcept
{
    return opal_progress().remove == nullptr && !is_on_worker.load(std::memory_order_relaxed) &&
           hook.load(std::memory_order_acquire) == HookState::registered;
}

bool is_in_hook() noexcept { return is_inside; }

bool is_in_poll() noexcept { return is_polling; }

bool is_in_worker_hook() noexcept
{
    return is_inside && is_on_worker.load(std::memory_order_relaxed);
}

void leave_out_this_thread() noexcept { left_out = true; }

bool is_left_out() noexcept { return left_out; }

} // namespace sidelight::host::mpi
