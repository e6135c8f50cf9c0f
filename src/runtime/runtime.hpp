// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <mutex>
#include <utility>

#include "fabric/joined/joined_fabric.hpp"
#include "fabric/mapped/mapped_peer_memory.hpp"
#include "host/mpi/errors.hpp"
#include "host/mpi/requests.hpp"
#include "host/mpi/table.hpp"
#include "host/node/cores.hpp"
#include "host/node/progress_thread.hpp"
#include "host/node/wait.hpp"
#include "rma/process.hpp"
#include "runtime/engine_lock.hpp"
#include "runtime/window_object.hpp"

namespace sidelight::runtime {

/// What stands behind an MPI_Request of ours: completed by the engine, waited for by the host.
class NonblockingRequest final : public host::mpi::HostRequest, public rma::Request {
public:
    /// As new, for a call on this window.
    void begin(const WindowObject& object) noexcept
    {
        static_cast<rma::Request&>(*this) = {};
        object_ = &object;
        life_ = object.life.load(std::memory_order_relaxed);
    }

private:
    /// A failure goes to the window's error handler first, if the window still lives.
    int outcome() noexcept override;

    const WindowObject* object_ = nullptr;
    std::uint64_t life_ = 0;
};

/// The largest page that we know of. What is aligned to it shares no page with memory of a window,
/// which may be replaced while others wait for a lock that lies there.
inline constexpr std::size_t own_pages = std::size_t{64} << 10;

/// Everything that this process has of Sidelight: made with its first window, kept until it ends.
/// MPI_THREAD_MULTIPLE is decided then: by what MPI's initialisation gave the program, and by the
/// sessions that it has opened so far.
class alignas(own_pages) Runtime {
public:
    /// The one of this process. Made at the first call, which comes from a collective call that
    /// makes a window. Throws std::bad_alloc and std::system_error.
    static Runtime& instance();
    /// Null before that.
    [[nodiscard]] static Runtime* existing() noexcept
    {
        return existing_.load(std::memory_order_acquire);
    }
    /// A session was opened; whether it has MPI_THREAD_MULTIPLE. Counts before the first window.
    static void learn_session(bool multiple) noexcept;
    /// How often a call polls for its peers by itself before it waits: a microsecond or two, hardly
    /// at all where ranks outnumber cores.
    [[nodiscard]] static int polls() noexcept { return polls_; }
    /// Whether other threads may be inside, of the program or the progress thread; false before
    /// there is a runtime. It may become true with a new window.
    [[nodiscard]] static bool threaded() noexcept { return threaded_; }
    /// Whether several of them may be the program's.
    [[nodiscard]] static bool program_has_threads() noexcept { return program_has_threads_; }

    [[nodiscard]] rma::Process& process() noexcept { return process_; }
    [[nodiscard]] fabric::JoinedFabric& fabric() noexcept { return fabric_; }
    [[nodiscard]] EngineLock& lock() noexcept { return lock_; }

    /// Messages can be sent from now on, if it answers true. Needs the engine. Throws
    /// std::bad_alloc.
    bool open_network();
    /// When the last window is gone.
    void close_network() noexcept;

    /// Hooks the sweep into the host's loop, and starts the progress thread where one is wanted, if
    /// that has not been done. After each window that is made, without the engine.
    void start_progress() noexcept;
    /// Before the host is finalised.
    void stop_progress() noexcept;
    /// Completes, on behalf of a thread of the program, the requests that were found complete where
    /// the host could not be called: by the progress thread, or inside the host's loop. Answers
    /// whether there were any.
    bool complete_requests() noexcept { return found_complete_.complete_all(); }
    void learn_neighbours(int ranks) noexcept;

    /// Sweeps and gives the core away until `request` is complete. Must not hold the engine.
    /// With threads, whoever completes the request rings for the one that waits.
    void wait(rma::Request& request) noexcept;
    /// One step of a wait that the host makes by asking again and again: see Waiter::pause.
    void pause(bool (*host_sweep)() noexcept, bool moved) noexcept;
    /// Sweeps once.
    void sweep() noexcept;
    /// At the end of a call that was complete at once. Where messages may come, one of many such
    /// calls sweeps: the program may ask its own memory again and again for what a message brings.
    /// Any thread; must not hold the engine.
    static void pass_by() noexcept
    {
        if (hears_messages_.load(std::memory_order_relaxed)) [[unlikely]] {
            existing()->sweep_now_and_then();
        }
    }
    /// Whether a look for the next message is worth while at once. Where ranks share cores its
    /// sender may need this one. Holds the engine.
    [[nodiscard]] bool messages_are_close() const noexcept
    {
        return !waiter_.crowded() && fabric_.is_close();
    }
    /// After something that another thread may wait for has completed.
    void rouse() noexcept
    {
        if (threaded_) {
            waiter_.rouse();
        }
    }

    /// Locks that blocking calls take on several windows are taken in the order of the calls,
    /// though such a call does not wait for its own: the next one waits for it. Else processes that
    /// all lock in one order could wait for one another in a circle. Not used in programs with
    /// threads, where a blocking call waits for its lock. Holds the engine.
    void remember_lock(const WindowObject& object) noexcept
    {
        if (!program_has_threads_ && object.window->waits_for_lock()) {
            ungranted_ = &object;
        }
    }
    [[nodiscard]] static bool remembers_lock() noexcept { return ungranted_ != nullptr; }
    /// Before a blocking call asks for a lock.
    void settle_locks() noexcept
    {
        if (ungranted_ != nullptr) [[unlikely]] {
            await_locks(*std::exchange(ungranted_, nullptr));
        }
    }

    /// The body of every blocking call: starts it, and waits where it is not complete at once.
    template <class Call>
    int blocking(const WindowObject& object, Call call) noexcept
    {
        rma::Request request;
        bool complete = false;
        Status status = Status::ok;
        {
            const EngineGuard guard(lock_);
            status = call(&request);
            complete = request.complete;
        }
        if (status != Status::ok) [[unlikely]] {
            return host::mpi::answer_window(status, object.handle);
        }
        if (!complete) {
            wait(request);
        } else {
            pass_by();
        }
        return host::mpi::answer_window(request.status, object.handle);
    }

    /// The body of every nonblocking call: starts it and makes the MPI request.
    template <class Call>
    int nonblocking(const WindowObject& object, MPI_Request* handle, Call call) noexcept
    {
        Status status = Status::no_memory;
        {
            const EngineGuard guard(lock_);
            if (NonblockingRequest* request = take_request(object)) {
                status = call(static_cast<rma::Request*>(request));
                status = finish_start(status, *request, object.own, handle);
            }
        }
        pass_by();
        return status == Status::ok ? MPI_SUCCESS : host::mpi::answer_window(status, object.handle);
    }

private:
    Runtime();

    static void complete_host_request(rma::Request& request) noexcept;
    static bool sweep_on_thread() noexcept;
    static bool arm_network(void* self) noexcept;
    [[gnu::noinline]] void sweep_now_and_then() noexcept;
    void set_threaded() noexcept;
    void hear_messages(bool messages) noexcept;
    void start_thread(bool hooked) noexcept;
    template <class Condition>
    void wait_until(Condition holds, Doorbell* meeting = nullptr) noexcept;
    void part_from_peers() noexcept;
    void await_locks(const WindowObject& object) noexcept;
    NonblockingRequest* take_request(const WindowObject& object) noexcept;
    void drop_spare() noexcept;
    Status finish_start(Status status, NonblockingRequest& request, MPI_Comm own,
                        MPI_Request* handle) noexcept;

    static std::atomic<Runtime*> existing_;
    static bool threaded_;
    static bool program_has_threads_;
    static std::atomic<bool> hears_messages_; ///< the process's `messages`, for the fastest calls
    static int polls_;
    static const WindowObject* ungranted_; ///< with a lock that a blocking call has asked for

    fabric::JoinedFabric fabric_;
    fabric::MappedPeerMemory peer_memory_;
    rma::Process process_{fabric_, &peer_memory_};
    host::node::Waiter waiter_{fabric_.bell()};
    host::mpi::RequestPool<NonblockingRequest> requests_;
    NonblockingRequest* spare_ = nullptr;   ///< started, for the next nonblocking call
    host::mpi::RequestList found_complete_; ///< where the host could not be called
    EngineLock lock_{process_};
    host::node::ProgressThread thread_;
    std::mutex starting_; ///< the hook and the thread, which several windows may ask for at once
    std::atomic<unsigned> passed_by_{0}; ///< calls; a lost one does not matter
    bool heard_ = false;                 ///< whether sleepers have been told of the network
};

} // namespace sidelight::runtime
