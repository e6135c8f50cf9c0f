// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <mutex>

#include "base/last_access.hpp"
#include "host/mpi/errors.hpp"
#include "runtime/attendance.hpp"
#include "runtime/helpers.hpp"
#include "runtime/lock_order.hpp"
#include "runtime/network.hpp"
#include "runtime/requests.hpp"
#include "runtime/tracing.hpp"
#include "runtime/waiting.hpp"
#include "runtime/window_object.hpp"

namespace sidelight::runtime {

/// Everything that this process has of Sidelight: made with its first window, kept until it ends.
class Runtime {
public:
    /// The one of this process. Made at the first call, which comes from a collective call that
    /// makes a window. Throws std::bad_alloc and std::system_error.
    static Runtime& instance();
    /// Null before that.
    [[nodiscard]] static Runtime* existing() noexcept
    {
        return existing_.load(std::memory_order_acquire);
    }

    /// The same, but one that another thread is making is waited for: else it knows what the caller
    /// has learnt before.
    [[nodiscard]] static Runtime* made() noexcept;

    [[nodiscard]] Engine& engine() noexcept { return engine_; }
    [[nodiscard]] Waiting& waiting() noexcept { return waiting_; }
    [[nodiscard]] Network& network() noexcept { return network_; }
    [[nodiscard]] Requests& requests() noexcept { return requests_; }
    [[nodiscard]] LockOrder& lock_order() noexcept { return lock_order_; }
    [[nodiscard]] Helpers& helpers() noexcept { return helpers_; }

    /// Waits until what closing calls have left to do, that had returned early, is done. Without
    /// the engine.
    void drain() noexcept;
    /// Waits until all members of windows of the world that the program has not freed have come
    /// here, too: until then they may still use this process's memory, and it has to serve them.
    /// Without the engine.
    void meet_in_windows() noexcept;

    /// MPI has begun, or a session, beside which a thread of the program may be in a call. From the
    /// first one with MPI_THREAD_MULTIPLE on several threads may call. One thread at a time.
    void learn_threads() noexcept;

    enum class GoesOn {
        nothing,  ///< no window is left
        sessions, ///< with windows of their own
        windows,  ///< that the host may refuse to end with: they keep the network
    };
    /// Before the host is finalised.
    void stop(GoesOn rest) noexcept;
    /// Needs no engine.
    [[nodiscard]] bool has_windows() noexcept;

    /// At the end of a call that is over, or of one that counts as so many. One of many looks after
    /// everything else: the program may ask again and again for what comes by a message, or for
    /// what another process does when it has heard from this one's host (MPI-4.1, 2.9). Any thread;
    /// must not hold the engine.
    static void pass_by(unsigned calls = 1) noexcept
    {
        passed_by_ += calls;
        if (passed_by_ % calls_per_look < calls) [[unlikely]] {
            existing()->look_around();
        }
    }

    /// The body of every blocking call.
    template <class Call>
    int blocking(const WindowObject& object, Call call) noexcept
    {
        return host::mpi::answer_window(perform(object, call), object.handle);
    }

    /// Starts what a blocking call does, and waits where it is not complete at once. Answers what
    /// the call has to tell; the window's error handler is the caller's.
    template <class Call>
    Status perform(const WindowObject& object, Call call) noexcept
    {
        if (HandlerCaller::inside()) [[unlikely]] {
            return Status::unsupported;
        }
        BlockingRequest request;
        bool complete = false;
        Status status = Status::ok;
        { // Nothing in here calls the program, which may take its time, or never return.
            const CallNote note(engine_);
            const Attendance attendance(engine_);
            {
                const EngineToken token(engine_);
                status = call(&request);
                complete = request.complete;
            }
            if (status == Status::ok && !complete) {
                waiting_.wait(request);
            }
        }
        if (status != Status::ok) [[unlikely]] {
            return status;
        }
        requests_.complete_found(); // by a helper, with what was waited for
        if (!complete) {
            LastAccess::moved();
        }
        pass_by(complete ? 1 : calls_of_a_wait);
        return told(object, request.status);
    }

    /// The body of a nonblocking call.
    template <class Call>
    int nonblocking(const WindowObject& object, MPI_Request* handle, Call call,
                    trace::RequestKind kind = trace::RequestKind::call_or_operation) noexcept
    {
        const Status status = begin(object, handle, call, kind);
        return status == Status::ok ? MPI_SUCCESS : host::mpi::answer_window(status, object.handle);
    }

    /// Starts what a nonblocking call does and makes the MPI request. Answers what the call has to
    /// tell, as `perform`.
    template <class Call>
    Status begin(const WindowObject& object, MPI_Request* handle, Call call,
                 trace::RequestKind kind = trace::RequestKind::call_or_operation) noexcept
    {
        if (HandlerCaller::inside()) [[unlikely]] {
            return Status::unsupported;
        }
        const CallNote note(engine_);
        Status status = Status::no_memory;
        bool pending = false;
        {
            const EngineToken token(engine_);
            if (NonblockingRequest* request = requests_.take(object)) {
                rma::Request* const engine_side = request;
                status = call(engine_side);
                pending = status == Status::ok && !engine_side->complete &&
                          object.info.progress() != Progress::calls;
                status = requests_.hand_out(status, *request, handle);
            }
        }
        if (pending) {
            helpers_.serve_pending();
        }
        if (status == Status::ok && trace::of_process.load(std::memory_order_relaxed) != nullptr)
            [[unlikely]] {
            trace_request(object, *handle, kind);
        }
        pass_by();
        return status;
    }

    /// The beginning of a wait for a request of ours: by sweeps, for a few microseconds, since a
    /// turn of some hosts' loops takes longer than what is waited for; where ranks outnumber cores
    /// all of it, asleep as in a blocking call, which the host's loop would not be. True: it is
    /// complete, and the program has it no more. False: the host waits for it.
    bool wait_for(MPI_Request handle) noexcept;

private:
    Runtime();

    /// What a call tells at its end: a failure of its own, or else that of an epoch whose closing
    /// call had returned before it failed.
    static Status told(const WindowObject& object, Status own) noexcept;

    [[gnu::noinline]] void look_around() noexcept;

    static constexpr unsigned calls_per_look = 64;
    static constexpr unsigned calls_of_a_wait = 16;
    static inline thread_local unsigned passed_by_ = 0; ///< calls

    static inline std::mutex making_;
    static inline std::atomic<Runtime*> existing_{nullptr};

    Engine engine_;
    Waiting waiting_{engine_};
    Network network_{engine_, waiting_};
    Requests requests_{waiting_};
    LockOrder lock_order_{waiting_};
    Helpers helpers_{engine_, waiting_};
};

} // namespace sidelight::runtime
