// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/clock.hpp"
#include "base/cpu.hpp"
#include "messages/calls.hpp"
#include "messages/live_requests.hpp"
#include "messages/message_thread.hpp"
#include "messages/presence.hpp"

namespace sidelight::messages {

/// What this process has of two-sided progress, from MPI's initialisation to its end: where the
/// host has MPI_THREAD_MULTIPLE and the mode is smart. Made once and never destroyed, because
/// threads may be in MPI while a process ends.
class Messages {
public:
    /// Null while nothing is looked after: then every call is handed on as it came.
    [[nodiscard]] static Messages* active() noexcept
    {
        return active_.load(std::memory_order_acquire);
    }

    /// The same for a call: null as well where the host itself makes it in a step of our thread's,
    /// for requests that it polls, such as those of files.
    [[nodiscard]] static Messages* of_call() noexcept
    {
        Messages* const messages = active();
        return messages != nullptr && !Presence::is_stepping_here() ? messages : nullptr;
    }

    /// MPI is up, and the host has threads; the program has asked for `level`. A second time raises
    /// the level. Answers false, and says why, where there is something amiss.
    static bool begin(int level) noexcept;
    /// Before MPI ends. Returns when the thread has ended. Not `for_good`: sessions go on, and
    /// the next large request that is started has a thread again.
    static void end(bool for_good) noexcept;

    [[nodiscard]] Presence& presence() noexcept { return presence_; }
    [[nodiscard]] LiveRequests& requests() noexcept { return requests_; }
    [[nodiscard]] std::uint64_t limit() const noexcept { return limit_; }

    /// A large request has been started by the calling thread, which is in MPI.
    void has_started() noexcept { thread_.wake(); }
    /// A call begins, or is over.
    void came() noexcept
    {
        if (!has_threads()) {
            stretches_.call_begins(now);
        }
    }
    void leaves() noexcept
    {
        if (!has_threads()) {
            stretches_.call_ends(requests_.live() != 0, now);
        }
    }
    /// Likewise, of a call that polls for requests.
    void came_to_poll() noexcept
    {
        if (!has_threads()) {
            stretches_.poll_begins(now, ticks);
        }
    }
    void leaves_poll(bool in_vain) noexcept
    {
        if (!has_threads()) {
            stretches_.poll_ends(in_vain, requests_.live() != 0, now);
        }
    }
    /// The program has given the host functions that it may call while it makes progress; also
    /// before anything is looked after.
    static void has_callbacks() noexcept
    {
        conditions_.calls_back.store(true, std::memory_order_relaxed);
    }
    /// It has given one that is called when a communicator goes, in MPICH with its last request. It
    /// frees a request. After both, in either order, that may be in the host's progress.
    static void has_communicators_to_delete() noexcept
    {
        deletes_communicators_.store(true);
        if (frees_requests_.load()) {
            has_callbacks();
        }
    }
    static void frees_request() noexcept
    {
        if (!frees_requests_.load(std::memory_order_relaxed)) {
            frees_requests_.store(true);
        }
        if (deletes_communicators_.load()) {
            has_callbacks();
        }
    }
    /// Whether the mode of progress is smart; also before anything is looked after.
    static void set_wanted(bool wanted) noexcept;
    /// For `is_over`.
    [[nodiscard]] AskStatus& ask_status() const noexcept { return *status_; }

private:
    /// Several threads have no stretches in common.
    [[nodiscard]] bool has_threads() const noexcept
    {
        return conditions_.program_has_threads.load(std::memory_order_relaxed);
    }
    Messages(AskStatus* status, ThreadCalls below) noexcept;

    static void before_fork() noexcept;
    static void in_parent() noexcept;
    static void in_child() noexcept;
    static void at_exit() noexcept;

    static inline std::atomic<Messages*> active_{nullptr};
    static inline std::mutex life_;          ///< several threads may open and close sessions
    static inline Messages* made_ = nullptr; ///< guarded by it
    static inline Conditions conditions_;
    /// Each is stored before the other is read, on two threads, too: in one order for all.
    static inline std::atomic<bool> deletes_communicators_{false};
    static inline std::atomic<bool> frees_requests_{false};
    /// What the calling thread has entered to fork.
    static inline thread_local Messages* forking_ = nullptr;

    const std::uint64_t limit_;
    AskStatus* const status_;
    Presence presence_;
    LiveRequests requests_;
    Stretches stretches_;
    MessageThread thread_;
};

/// A call of the program's, from its beginning to its end.
class Inside {
public:
    explicit Inside(Messages& messages) noexcept : messages_(messages)
    {
        messages_.came();
        messages_.presence().enter();
    }
    ~Inside()
    {
        messages_.leaves();
        messages_.presence().leave();
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

private:
    Messages& messages_;
};

/// One that polls for requests.
class InPoll {
public:
    explicit InPoll(Messages& messages) noexcept : messages_(messages)
    {
        messages_.came_to_poll();
        messages_.presence().enter();
    }
    ~InPoll()
    {
        messages_.leaves_poll(in_vain_);
        messages_.presence().leave();
    }
    InPoll(const InPoll&) = delete;
    InPoll& operator=(const InPoll&) = delete;

    /// Something is complete, or has failed.
    void has_found() noexcept { in_vain_ = false; }

private:
    Messages& messages_;
    bool in_vain_ = true;
};

template <class Request>
[[nodiscard]] Handle handle_of(Request request) noexcept
{
    if constexpr (std::is_pointer_v<Request>) {
        return reinterpret_cast<Handle>(request);
    } else {
        return static_cast<std::make_unsigned_t<Request>>(request);
    }
}

template <class Request = MPI_Request>
[[nodiscard]] Request request_of(Handle handle) noexcept
{
    if constexpr (std::is_pointer_v<Request>) {
        return reinterpret_cast<Request>(handle);
    } else {
        return static_cast<Request>(handle);
    }
}

} // namespace sidelight::messages
