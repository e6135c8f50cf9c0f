// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/clock.hpp"
#include "base/pool.hpp"
#include "base/status.hpp"
#include "host/mpi/declarations.hpp"

namespace sidelight::host::mpi {

/// MPICH's generalized requests with a poll and a wait function; null where the host has none. Used
/// also where the host's loop sweeps for us: beside a null request, MPICH 5's MPI_Waitall takes an
/// incomplete one without a wait function for a mistake of its own, and aborts.
using ExtendedStart = int(MPI_Grequest_query_function*, MPI_Grequest_free_function*,
                          MPI_Grequest_cancel_function*, int (*)(void*, MPI_Status*),
                          int (*)(int, void**, double, MPI_Status*), void*, MPI_Request*);
[[nodiscard]] ExtendedStart* find_extended_start() noexcept;

/// Callbacks of generalized requests that carry no data and cannot be cancelled.
int query_nothing(void* state, MPI_Status* status) noexcept;
int ignore_freed(void* state) noexcept;
int ignore_cancel(void* state, int complete) noexcept;

class HostRequest;

/// Requests that one thread leaves for another: pushed by any, taken all at once by any. A request
/// is in one list at most.
class RequestList {
public:
    void push(HostRequest* request) noexcept;
    [[nodiscard]] HostRequest* take_all() noexcept;
    /// Completes those that are here. Answers whether there were any.
    bool complete_all() noexcept;
    /// A look, without a promise.
    [[nodiscard]] bool any() const noexcept
    {
        return first_.load(std::memory_order_relaxed) != nullptr;
    }

private:
    std::atomic<HostRequest*> first_{nullptr}; ///< release push pairs with acquire take_all
};

/// What stands behind an MPI_Request of ours: a generalized request of the host. Derive the thing
/// that completes from it, and keep those in a RequestPool.
/// The application may wait for it, test it, or free it before it is complete.
class HostRequest {
public:
    /// Makes the MPI request, which is for the program, or for `abandon`. On failure there is none
    /// and the object is as before.
    [[nodiscard]] Status start() noexcept;
    /// The MPI request, once it has started.
    [[nodiscard]] MPI_Request handle() const noexcept { return handle_; }
    /// Ends one that has started and that the program was never given. The object comes back.
    void abandon() noexcept;

    /// Completes it, once. Any thread, also inside a sweep called by the host. The object may be
    /// gone when it returns.
    void complete() noexcept;

protected:
    HostRequest() = default;
    ~HostRequest() = default;
    HostRequest(const HostRequest&) = delete;
    HostRequest& operator=(const HostRequest&) = delete;

private:
    /// What the call that completes it, or asks for its status, answers: MPI_SUCCESS or an error
    /// class, which the host then hands to the error handler that it has for requests, unless the
    /// call is ours (KeptOutcome).
    virtual int outcome() noexcept = 0;

    friend class RequestList;
    template <class T>
    friend class RequestPool;

    static int query(void* state, MPI_Status* status) noexcept;
    static int freed(void* state) noexcept;
    static int poll(void* state, MPI_Status* status) noexcept;
    static int wait(int count, void** states, double timeout, MPI_Status* status) noexcept;

    void let_go() noexcept;

    MPI_Request handle_ = MPI_REQUEST_NULL;
    std::atomic<std::uint8_t> holders_{0}; ///< of host and engine, who still needs it
    RequestList* released_ = nullptr;      ///< for what both host and engine have let go of
    HostRequest* next_ = nullptr;
    std::atomic<Time> polled_{}; ///< by the host, last; also in former lives
};

/// Around a call of the host's that completes this request: what it answers, if it is ours, is kept
/// here, and the host hears of a success. It would raise the failure once more, on MPI_COMM_SELF,
/// whose errors end the program, though the window's may return. This thread's.
class KeptOutcome {
public:
    explicit KeptOutcome(MPI_Request request) noexcept
        : before_(std::exchange(latest_, Kept{request, MPI_SUCCESS}))
    {}
    ~KeptOutcome() { latest_ = before_; }
    KeptOutcome(const KeptOutcome&) = delete;
    KeptOutcome& operator=(const KeptOutcome&) = delete;

    /// What the call answers, by what the host has.
    [[nodiscard]] static int answer(int code) noexcept
    {
        return code == MPI_SUCCESS ? latest_.code : code;
    }

private:
    friend class HostRequest;

    /// No pointer to the call: an error handler may leave that by longjmp.
    struct Kept {
        MPI_Request request;
        int code;
    };
    static inline thread_local Kept latest_{MPI_REQUEST_NULL, MPI_SUCCESS};
    Kept before_;
};

/// Objects of one type derived from HostRequest, taken by the thread that holds the engine; they
/// come back by themselves.
template <class T>
class RequestPool {
public:
    /// Null when memory has run out.
    [[nodiscard]] T* take() noexcept
    {
        if (idle_.empty()) {
            take_released();
        }
        T* request = idle_.take();
        if (request != nullptr) {
            request->released_ = &released_;
        }
        return request;
    }

    /// For one whose `start` was never called.
    void give_back(T* request) noexcept { idle_.give_back(request); }

    /// As Pool::shrink.
    std::size_t shrink() noexcept
    {
        take_released();
        return idle_.shrink();
    }

private:
    void take_released() noexcept
    {
        for (HostRequest* request = released_.take_all(); request != nullptr;) {
            idle_.give_back(static_cast<T*>(std::exchange(request, request->next_)));
        }
    }

    Pool<T> idle_;
    RequestList released_;
};

/// A request that stays incomplete until it is ended: to ask for its status makes the host
/// progress.
[[nodiscard]] Status start_idle_request(MPI_Request* handle) noexcept;
/// Completes and frees it, and sets it to MPI_REQUEST_NULL.
void end_idle_request(MPI_Request* handle) noexcept;

/// MPICH tests a request of ours, and waits for one, by a function of ours: that calls `sweep`, and
/// then `pause` with what that answered, which after a sweep that moved nothing lets the host
/// progress and gives the core away for a while, but never for long: the program may only be
/// testing, or the host be waiting for other requests as well. Of many requests that are tested in
/// turn one in each turn does so. Set it once, before the first request.
void set_request_sweep(bool (*sweep)() noexcept, void (*pause)(bool moved) noexcept) noexcept;

/// Calls both, as such a function does.
void sweep_for_requests() noexcept;

/// Whether the host calls something of ours while it waits for a request of ours: that function, or
/// a hook in its loop. All that have an <mpi.h> of their own do; of those with the MPI ABI, Intel
/// MPI does not, and its calls that complete requests have to be ours. Not before the host is
/// loaded. Any thread.
#if SIDELIGHT_MPI_ABI
[[nodiscard]] bool host_polls_requests() noexcept;
#else
constexpr bool host_polls_requests() noexcept { return true; }
#endif

} // namespace sidelight::host::mpi
