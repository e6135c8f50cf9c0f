// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include <sys/types.h>

namespace sidelight::host::memory {

/// All other threads of this process stand still until it ends, and so does what the kernel does
/// for them. A process that shares this one's memory and lives as long as this traces them, as a
/// debugger would: that takes no rights, only that the system lets users debug their own programs.
/// A thread that sleeps in epoll_wait gets EINTR; see signal(7), "Interruption of system calls and
/// library functions by stop signals". Nothing is stopped where one sleeps in a system call whose
/// callers may not expect that, or would be told of less than they asked for, as by send.
///
/// Signals must be blocked. Until it ends nothing may be called that waits for another thread: no
/// heap, no lock, no dynamic linker.
class StoppedThreads {
public:
    StoppedThreads() = default;
    ~StoppedThreads() { resume(); }
    StoppedThreads(StoppedThreads&& other) noexcept { *this = std::move(other); }
    StoppedThreads& operator=(StoppedThreads&& other) noexcept
    {
        std::swap(tracer_, other.tracer_);
        return *this;
    }

    /// Not set, with errno: EPERM where that is not allowed or a debugger is there already, ENOTSUP
    /// under Valgrind, EBUSY where one sleeps as above, ETIMEDOUT where one has not stopped within
    /// a second. All are going on then.
    [[nodiscard]] static StoppedThreads stop() noexcept;

    [[nodiscard]] explicit operator bool() const noexcept { return tracer_ != nullptr; }

    /// Whether they still do: the tracer may have been killed. Must be set.
    [[nodiscard]] bool stand_still() noexcept;

    /// All go on. Keeps errno.
    void resume() noexcept;

private:
    struct Tracer;
    static StoppedThreads stop_once() noexcept;
    void await_tracer() noexcept;
    void end_tracer() noexcept;

    Tracer* tracer_ = nullptr;
};

} // namespace sidelight::host::memory
