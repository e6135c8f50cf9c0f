// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include "host/mpi/requests.hpp"
#include "rma/request.hpp"
#include "runtime/pending_requests.hpp"
#include "runtime/waiting.hpp"
#include "runtime/window_object.hpp"

namespace sidelight::runtime {

class Requests;

/// What stands behind an MPI_Request of ours: completed by the engine, waited for by the host.
class NonblockingRequest final : public host::mpi::HostRequest, public rma::Request {
public:
    /// As new, for a call on this window.
    void begin(Requests& among, const WindowObject& object) noexcept
    {
        static_cast<rma::Request&>(*this) = {};
        among_ = &among;
        object_ = &object;
        life_ = object.life.load(std::memory_order_relaxed);
        told_.store(false, std::memory_order_relaxed);
    }
    [[nodiscard]] Requests& among() const noexcept { return *among_; }
    /// Looks so many times for what completes it without a sweep, a counter of its window that is
    /// waited for. Answers whether it is complete. Needs the engine.
    [[nodiscard]] bool peek(int times) noexcept;

    NonblockingRequest* next = nullptr; ///< in its pool

private:
    /// A failure goes to the window's error handler first, if the window still lives: once, however
    /// often the host asks (MPICH's MPI_Testall twice, MPI_Request_get_status before the end).
    int outcome() noexcept override;

    Requests* among_ = nullptr;
    const WindowObject* object_ = nullptr;
    std::uint64_t life_ = 0;
    std::atomic<bool> told_{false};
};

/// The requests of nonblocking calls. Unless it says otherwise, a function needs the engine.
class Requests {
public:
    explicit Requests(Waiting& waiting) noexcept : waiting_(waiting) {}

    /// One that the host has started, so before the engine is asked for anything: what the engine
    /// has begun cannot be taken back when the host has no request for it. Null: no memory.
    [[nodiscard]] NonblockingRequest* take(const WindowObject& object) noexcept;
    /// After the engine's call, which has answered `status`: gives the program its request, unless
    /// the call has failed.
    Status hand_out(Status status, NonblockingRequest& request, MPI_Request* handle) noexcept;

    /// Completes, on behalf of a thread of the program, the requests that were found complete where
    /// the host could not be called: by a helper, or inside the host's loop. Where it still cannot
    /// be called they stay. Answers whether there were any. Any thread; needs no engine.
    bool complete_found() noexcept
    {
        return found_complete_.any() && !host_is_locked() && found_complete_.complete_all();
    }
    /// Whether the host's calls would wait for a lock that it has taken on this thread. Needs no
    /// engine.
    [[nodiscard]] static bool host_is_locked() noexcept;

    /// The one that `take` keeps is the caller's to abandon, without the engine; or null.
    [[nodiscard]] NonblockingRequest* give_up_spare() noexcept;

    /// Whether the program has ever had one that was not complete, or had failed, when it got it.
    /// Any thread, without the engine.
    [[nodiscard, gnu::always_inline]] static bool any() noexcept { return pending_.any(); }
    /// Whether this is likely a request of ours that is not complete. Any thread, without the
    /// engine: `claim` answers for certain.
    [[nodiscard, gnu::always_inline]] static bool may_be_pending(const MPI_Request* handle) noexcept
    {
        return pending_.may_have(handle);
    }
    /// That request, if the engine is still at it: the host does not hear of its completion unless
    /// `settle` tells it. Else null. For the thread of the program that waits for it.
    [[nodiscard]] NonblockingRequest* claim(MPI_Request handle) noexcept;
    /// Ends a claim. True: it is complete, and its host's request is kept for the next call, so the
    /// program has it no more. False: the program's request is the host's affair again.
    [[nodiscard]] bool settle(NonblockingRequest& request) noexcept;
    /// After a window has ended.
    std::size_t shrink() noexcept { return pool_.shrink(); }

private:
    static void complete(rma::Request& request) noexcept;
    static void rouse(rma::Request& request) noexcept;

    static inline PendingRequests pending_; ///< static: MPI_Wait asks it before all else

    Waiting& waiting_;
    host::mpi::RequestPool<NonblockingRequest> pool_;
    NonblockingRequest* spare_ = nullptr; ///< started, for the next call
    host::mpi::RequestList found_complete_;
};

} // namespace sidelight::runtime
