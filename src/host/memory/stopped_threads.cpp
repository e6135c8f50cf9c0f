// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/stopped_threads.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Everything below runs while threads of the program stand still, some of them perhaps with a lock
// of the C library. And the tracer has no thread-local variables of its own: its errno is that of
// the thread that waits for it. So only one of the two makes system calls that may fail at a time.

namespace sidelight::host::memory {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds longest_stopping{500};
/// One that is ending cannot be traced either, for a moment.
constexpr std::chrono::milliseconds longest_ending{20};
constexpr std::size_t most_threads = 1024;
constexpr std::size_t stack_bytes = std::size_t{64} << 10;

enum class Phase : std::uint32_t { stopping, stopped, failed, resuming };

struct Traced {
    pid_t id = 0;
    int signal = 0; ///< that was about to be delivered, and is when it goes on
    bool stands = false;
};

} // namespace

/// What the two share.
struct StoppedThreads::Tracer {
    std::atomic<Phase> phase{Phase::stopping};
    int reason = 0; ///< why it failed
    Clock::time_point begin;
    pid_t tracer = 0;
    pid_t process = 0;
    pid_t spared = 0; ///< the thread that stops the others
    std::size_t threads = 0;
    std::array<Traced, most_threads> traced{};
    alignas(dirent64) std::array<std::byte, 4096> listing{};
    alignas(16) std::array<std::byte, stack_bytes> stack;

    static int run(void* tracer) noexcept;
    bool stop_all() noexcept;
    bool trace_new(bool& any) noexcept;
    bool trace_listed(long bytes, bool& any) noexcept;
    [[nodiscard]] bool knows(pid_t id) const noexcept;
    bool trace(pid_t id) noexcept;
    bool await_all() noexcept;
    void let_go() noexcept;
    bool fail(int why) noexcept
    {
        reason = why;
        return false;
    }
};
static_assert(std::atomic<Phase>::is_always_lock_free && sizeof(std::atomic<Phase>) == 4);

namespace {

long futex(std::atomic<Phase>& word, int operation, std::uint32_t value) noexcept
{
    return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

int open_tasks(pid_t process) noexcept
{
    std::array<char, 64> path{};
    char* at = std::copy_n("/proc/", 6, path.data());
    at = std::to_chars(at, path.data() + path.size(), process).ptr;
    std::copy_n("/task", 6, at);
    return static_cast<int>(
        syscall(SYS_openat, AT_FDCWD, path.data(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

pid_t wait_for(pid_t id, int& status, int flags) noexcept
{
    return static_cast<pid_t>(syscall(SYS_wait4, id, &status, __WALL | flags, nullptr));
}

} // namespace

/// The tracer's own life.
int StoppedThreads::Tracer::run(void* tracer) noexcept
{
    auto& self = *static_cast<Tracer*>(tracer);
    syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    const bool stopped = self.stop_all();
    if (!stopped) {
        self.let_go();
    }
    self.phase.store(stopped ? Phase::stopped : Phase::failed, std::memory_order_release);
    while (self.phase.load(std::memory_order_acquire) == Phase::stopped) {
        futex(self.phase, FUTEX_WAIT, static_cast<std::uint32_t>(Phase::stopped));
    }
    if (stopped) {
        self.let_go();
    }
    return 0;
}

/// Looks again until there is no new one: what has not stopped yet may start others.
bool StoppedThreads::Tracer::stop_all() noexcept
{
    begin = Clock::now();
    for (bool any = true; any;) {
        any = false;
        if (!trace_new(any) || !await_all()) {
            return false;
        }
    }
    return true;
}

bool StoppedThreads::Tracer::trace_new(bool& any) noexcept
{
    const int directory = open_tasks(process);
    if (directory < 0) {
        return fail(errno);
    }
    bool good = true;
    long bytes = 0;
    do {
        bytes = syscall(SYS_getdents64, directory, listing.data(), listing.size());
        good = bytes >= 0 ? trace_listed(bytes, any) : fail(errno);
    } while (good && bytes > 0);
    syscall(SYS_close, directory);
    return good;
}

bool StoppedThreads::Tracer::trace_listed(long bytes, bool& any) noexcept
{
    for (long place = 0; place < bytes;) {
        const auto* entry = reinterpret_cast<dirent64*>(listing.data() + place);
        place += entry->d_reclen;
        pid_t id = 0;
        const char* name = static_cast<const char*>(entry->d_name);
        std::from_chars(name, name + entry->d_reclen - offsetof(dirent64, d_name), id);
        const bool is_new = id != 0 && id != spared && !knows(id);
        any = any || is_new;
        if (is_new && !trace(id)) {
            return false;
        }
    }
    return true;
}

bool StoppedThreads::Tracer::knows(pid_t id) const noexcept
{
    return std::any_of(traced.begin(), traced.begin() + threads,
                       [&](const Traced& thread) { return thread.id == id; });
}

bool StoppedThreads::Tracer::trace(pid_t id) noexcept
{
    if (threads == traced.size()) {
        return fail(EAGAIN);
    }
    if (ptrace(PTRACE_SEIZE, id, nullptr, nullptr) != 0) {
        const bool ending = errno == EPERM && Clock::now() - begin < longest_ending;
        return errno == ESRCH || ending || fail(errno);
    }
    ptrace(PTRACE_INTERRUPT, id, nullptr, nullptr);
    traced[threads++] = {.id = id};
    return true;
}

bool StoppedThreads::Tracer::await_all() noexcept
{
    for (std::size_t at = 0; at < threads;) {
        Traced& thread = traced[at];
        int status = 0;
        const pid_t answer = thread.stands ? thread.id : wait_for(thread.id, status, WNOHANG);
        if (thread.stands) {
            ++at;
        } else if (answer == thread.id && WIFSTOPPED(status)) {
            thread.stands = true;
            thread.signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
        } else if (answer != 0) { // ended
            thread = traced[--threads];
        } else if (Clock::now() - begin >= longest_stopping) {
            return fail(ETIMEDOUT);
        } else {
            sched_yield();
        }
    }
    return true;
}

/// One that does not stand cannot be detached; the tracer's end does it.
void StoppedThreads::Tracer::let_go() noexcept
{
    for (std::size_t at = 0; at < threads; ++at) {
        if (traced[at].stands) {
            ptrace(PTRACE_DETACH, traced[at].id, nullptr,
                   reinterpret_cast<void*>(static_cast<std::intptr_t>(traced[at].signal)));
        }
    }
}

StoppedThreads StoppedThreads::stop() noexcept
{
#ifdef __SANITIZE_THREAD__
    errno = ENOTSUP; // it keeps an account of each thread, and the tracer has none
    return {};
#else
    StoppedThreads stopped = stop_once();
    if (!stopped && errno == EPERM) {
        // Yama lets parents trace and nobody else, unless they are asked to.
        if (syscall(SYS_prctl, PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0) == 0) {
            stopped = stop_once();
        } else {
            errno = EPERM;
        }
    }
    return stopped;
#endif
}

StoppedThreads StoppedThreads::stop_once() noexcept
{
    const long place = syscall(SYS_mmap, nullptr, sizeof(Tracer), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == -1) {
        return {};
    }
    StoppedThreads stopped;
    auto* tracer = new (reinterpret_cast<void*>(place)) Tracer; // NOLINT: an address
    tracer->process = getpid();
    tracer->spared = static_cast<pid_t>(syscall(SYS_gettid));
    tracer->tracer = clone(Tracer::run, tracer->stack.data() + tracer->stack.size(),
                           CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_UNTRACED, tracer);
    stopped.tracer_ = tracer;
    if (tracer->tracer < 0) {
        tracer->reason = errno;
        tracer->phase = Phase::failed;
    }
    while (tracer->phase.load(std::memory_order_acquire) == Phase::stopping) {
        sched_yield(); // cannot fail, see above
    }
    if (tracer->phase.load(std::memory_order_relaxed) == Phase::failed) {
        errno = tracer->reason;
        stopped.resume();
    }
    return stopped;
}

void StoppedThreads::resume() noexcept
{
    if (tracer_ == nullptr) {
        return;
    }
    const int before = errno;
    Tracer* tracer = std::exchange(tracer_, nullptr);
    tracer->phase.store(Phase::resuming, std::memory_order_release);
    futex(tracer->phase, FUTEX_WAKE, 1);
    int status = 0;
    if (tracer->tracer > 0) {
        wait_for(tracer->tracer, status, 0);
    }
    syscall(SYS_munmap, tracer, sizeof *tracer);
    errno = before;
}

} // namespace sidelight::host::memory
