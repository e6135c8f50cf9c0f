// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/runtime.hpp"

#include <chrono>
#include <mutex>
#include <utility>

#include "base/cpu.hpp"
#include "base/heavy_barrier.hpp"
#include "base/settings.hpp"
#include "host/mpi/progress.hpp"
#include "host/mpi/table.hpp"

namespace sidelight::runtime {

namespace {

/// Whether the host's calls would wait for a lock that it has taken on this thread.
bool host_is_locked() noexcept
{
    return Runtime::program_has_threads() && host::mpi::is_in_worker_hook();
}

/// Whether the last sweep has left the fabric close to the next message. Relaxed: a hint.
std::atomic<bool> messages_are_close{false};

/// Tries, and never waits.
bool sweep_for_host() noexcept
{
    Runtime* runtime = Runtime::existing();
    const bool completed = !host_is_locked() && runtime->complete_requests();
    if (!runtime->process().busy() || !runtime->lock().try_acquire()) {
        return completed;
    }
    const bool moved = runtime->process().progress();
    messages_are_close.store(runtime->messages_are_close(), std::memory_order_relaxed);
    runtime->lock().release();
    return moved || completed;
}

/// A neighbour that waits for each answer sends its next message at once, and a turn of some hosts'
/// loops takes as long as that: so it is waited for here, for a microsecond or two, and for few in
/// a row, since the host waits meanwhile. Not where looking is a system call.
void await_next_message() noexcept
{
    constexpr int most_messages = 16;
    constexpr int most_looks = 20;
    int messages = 0;
    for (int looks = 0; messages < most_messages && looks < most_looks &&
                        messages_are_close.load(std::memory_order_relaxed);
         ++looks) {
        relax_cpu();
        if (sweep_for_host()) {
            ++messages;
            looks = 0;
        }
    }
}

/// Called from the host's loop, some million times a second. A look at a network may be a system
/// call, so while no window waits for anything only one time in so many looks; but after a message
/// the next one is likely soon: some host's loop takes as long as a message.
bool sweep_from_host() noexcept
{
    constexpr unsigned times_per_look = 8;
    constexpr unsigned looks_after_message = 128;
    thread_local unsigned times = 0;
    thread_local unsigned expecting = 0;
    const bool listens_only = !Runtime::existing()->process().waits();
    if (listens_only && expecting == 0 && ++times % times_per_look != 0) {
        return false;
    }
    const bool moved = sweep_for_host();
    if (moved) {
        await_next_message();
    }
    expecting = moved ? looks_after_message : expecting - (expecting != 0 ? 1 : 0);
    return moved;
}

/// Called from the host's wait for a request of ours, after each sweep.
void pause_in_host(bool moved) noexcept { Runtime::existing()->pause(sweep_for_host, moved); }

thread_local bool is_progress_thread = false;

void rouse_waiting_thread(rma::Request& /*request*/) noexcept { Runtime::existing()->rouse(); }

/// Relaxed: only ever set, before the window that is the reason to ask.
std::atomic<bool> any_session{false};
std::atomic<bool> session_with_threads{false};

/// MPI_Init and each session have a thread level of their own; the highest counts. A program that
/// has neither, as far as the library has seen, is taken to have threads.
bool threads_possible() noexcept
{
    const auto& mpi = host::mpi::table();
    int initialized = 0;
    int level =
        any_session.load(std::memory_order_relaxed) ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
    if (mpi.Initialized(&initialized) == MPI_SUCCESS && initialized != 0) {
        mpi.Query_thread(&level);
    }
    return level == MPI_THREAD_MULTIPLE || session_with_threads.load(std::memory_order_relaxed);
}

} // namespace

std::atomic<Runtime*> Runtime::existing_{nullptr};
bool Runtime::threaded_ = false;
bool Runtime::program_has_threads_ = false;
std::atomic<bool> Runtime::hears_messages_{false};
int Runtime::polls_ = 100;
const WindowObject* Runtime::ungranted_ = nullptr;

Runtime& Runtime::instance()
{
    static std::mutex mutex;
    const std::scoped_lock lock(mutex);
    Runtime* runtime = existing();
    if (runtime == nullptr) {
        runtime = new Runtime;
        existing_.store(runtime, std::memory_order_release);
    }
    return *runtime;
}

Runtime::Runtime()
    : fabric_({.transports = settings().network,
               .always_access = settings().route == Route::native,
               .library = settings().ucx})
{
    process_.set_allows_rows(allow_heavy_barriers());
    program_has_threads_ = threads_possible();
    if (program_has_threads_ || settings().progress == Progress::thread) {
        set_threaded();
    }
    host::mpi::set_request_sweep(sweep_for_host, pause_in_host);
    learn_neighbours(host::node::launched_neighbours());
}

void Runtime::learn_session(bool multiple) noexcept
{
    any_session.store(true, std::memory_order_relaxed);
    if (multiple) {
        session_with_threads.store(true, std::memory_order_relaxed);
    }
}

void Runtime::hear_messages(bool messages) noexcept
{
    process_.set_messages(messages);
    hears_messages_.store(messages, std::memory_order_relaxed);
}

bool Runtime::open_network()
{
    const bool open = fabric_.open_network();
    if (open) {
        hear_messages(true);
    }
    if (open && !std::exchange(heard_, true)) {
        waiter_.listen_to(
            {.descriptor = fabric_.network()->event_fd(), .arm = arm_network, .context = this});
    }
    return open;
}

bool Runtime::arm_network(void* self) noexcept
{
    auto& runtime = *static_cast<Runtime*>(self);
    const EngineGuard guard(runtime.lock_);
    return runtime.fabric_.network()->arm();
}

/// Everything has been answered by then, or the windows could not have been freed; what has been
/// sent last still has to leave.
void Runtime::close_network() noexcept
{
    constexpr std::chrono::seconds limit{2};
    thread_.stop();
    if (fabric_.network() != nullptr) {
        part_from_peers();
    }
    waiter_.stop_listening();
    const EngineGuard guard(lock_);
    if (fabric_.network() != nullptr) {
        fabric_.close_network(process_, limit);
        hear_messages(false);
        heard_ = false;
    }
}

/// Sweeps, and gives the core away, until the condition holds, which is asked for with the engine.
/// `meeting`: as for Waiter::wait.
template <class Condition>
void Runtime::wait_until(Condition holds, Doorbell* meeting) noexcept
{
    struct Waiting {
        Runtime& runtime;
        Condition& holds;
    } waiting{*this, holds};
    waiter_.wait(
        [](void* context) noexcept {
            auto& [runtime, condition] = *static_cast<Waiting*>(context);
            const EngineGuard guard(runtime.lock_);
            if (!condition()) {
                runtime.process_.progress();
            }
            return condition();
        },
        &waiting, meeting);
}

/// A connection that is closed too early takes with it what the peer has not read yet. Peers that
/// do not come to answer are not waited for longer than this.
void Runtime::part_from_peers() noexcept
{
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::seconds limit{10};
    const Clock::time_point end = Clock::now() + limit;
    {
        const EngineGuard guard(lock_);
        process_.say_farewell();
    }
    wait_until([&] { return process_.has_parted() || Clock::now() > end; });
}

void Runtime::set_threaded() noexcept
{
    threaded_ = true;
    lock_.set_threaded(true);
    process_.set_threaded(true);
}

void Runtime::start_progress() noexcept
{
    const std::scoped_lock one_at_a_time(starting_);
    start_thread(host::mpi::start_hook(sweep_from_host));
}

/// By itself only where messages would wait for the program's next call of ours.
void Runtime::start_thread(bool hooked) noexcept
{
    const Progress wanted = settings().progress;
    if (wanted == Progress::calls ||
        (wanted == Progress::automatic && (hooked || !process_.messages()))) {
        return;
    }
    if (!threaded_) {
        set_threaded();
    }
    thread_.start(waiter_, sweep_on_thread);
}

bool Runtime::sweep_on_thread() noexcept
{
    is_progress_thread = true;
    Runtime& runtime = *existing();
    const EngineGuard guard(runtime.lock_);
    return runtime.process_.busy() && runtime.process_.progress();
}

void Runtime::complete_host_request(rma::Request& request) noexcept
{
    host::mpi::HostRequest& host_side = static_cast<NonblockingRequest&>(request);
    if (is_progress_thread || host_is_locked()) {
        existing()->found_complete_.push(&host_side);
    } else {
        host_side.complete();
    }
    existing()->rouse();
}

void Runtime::stop_progress() noexcept
{
    thread_.stop();
    complete_requests();
    drop_spare();
    host::mpi::stop_hook();
}

void Runtime::learn_neighbours(int ranks) noexcept
{
    waiter_.learn_neighbours(ranks);
    host::mpi::set_crowded(waiter_.crowded());
    constexpr int polls_crowded = 2;
    polls_ = waiter_.crowded() ? polls_crowded : polls_;
}

void Runtime::sweep() noexcept
{
    const EngineGuard guard(lock_);
    if (process_.busy()) {
        process_.progress();
    }
}

void Runtime::sweep_now_and_then() noexcept
{
    constexpr unsigned calls = 64;
    const unsigned number = passed_by_.load(std::memory_order_relaxed) + 1;
    passed_by_.store(number, std::memory_order_relaxed);
    if (number % calls == 0) {
        sweep();
    }
}

void Runtime::wait(rma::Request& request) noexcept
{
    if (threaded_) {
        const EngineGuard guard(lock_);
        request.on_complete = rouse_waiting_thread;
    }
    wait_until([&] { return request.complete; }, threaded_ ? nullptr : process_.barrier_bell());
}

void Runtime::pause(bool (*host_sweep)() noexcept, bool moved) noexcept
{
    waiter_.pause(
        moved,
        [](void* context) noexcept { return (*static_cast<bool (**)() noexcept>(context))(); },
        &host_sweep);
}

/// The window may have been unlocked meanwhile, or freed: then there is nothing to wait for.
void Runtime::await_locks(const WindowObject& object) noexcept
{
    rma::Request granted;
    {
        const EngineGuard guard(lock_);
        if (object.window == nullptr ||
            object.window->flush(rma::all_targets, rma::FlushScope::remote, &granted) !=
                Status::ok) {
            return;
        }
    }
    wait(granted);
}

int NonblockingRequest::outcome() noexcept
{
    if (status != Status::ok && object_->life.load(std::memory_order_acquire) == life_) {
        return host::mpi::answer_window(status, object_->handle);
    }
    return host::mpi::error_class(status);
}

/// Started before the engine is asked for anything: what the engine has begun cannot be taken back
/// when the host has no request for it.
NonblockingRequest* Runtime::take_request(const WindowObject& object) noexcept
{
    NonblockingRequest* request = std::exchange(spare_, nullptr);
    if (request == nullptr) {
        request = requests_.take();
        if (request == nullptr) {
            return nullptr;
        }
        if (request->start() != Status::ok) {
            requests_.give_back(request);
            return nullptr;
        }
    }
    request->begin(object);
    return request;
}

void Runtime::drop_spare() noexcept
{
    NonblockingRequest* spare = nullptr;
    {
        const EngineGuard guard(lock_);
        spare = std::exchange(spare_, nullptr);
    }
    if (spare != nullptr) {
        spare->abandon();
    }
}

/// What is complete already gets the host's cheapest request, and the one that was started is kept
/// for the next call; only what is not complete, or has failed, is watched.
Status Runtime::finish_start(Status status, NonblockingRequest& request, MPI_Comm own,
                             MPI_Request* handle) noexcept
{
    rma::Request& engine_side = request;
    if (status != Status::ok) {
        spare_ = &request;
        return status;
    }
    if (!engine_side.complete) {
        engine_side.on_complete = complete_host_request;
        *handle = request.handle();
    } else if (engine_side.status == Status::ok &&
               host::mpi::create_completed_request(own, handle) == Status::ok) {
        spare_ = &request;
    } else {
        *handle = request.handle();
        complete_host_request(engine_side);
    }
    return Status::ok;
}

} // namespace sidelight::runtime
