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
#include <cstdlib>
#include <new>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/settings.hpp"
#include "base/shared_memory.hpp"

// Everything below runs while threads of the program stand still, some of them perhaps with a lock
// of the C library. And the tracer has no thread-local variables of its own: its errno is that of
// the thread that waits for it. So only one of the two makes system calls that may fail at a time.

namespace sidelight::host::memory {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds longest_stopping{1};
constexpr std::chrono::seconds longest_tracer{3}; ///< that has had no core, or was stopped itself
constexpr int most_retries = 10; ///< where one sleeps in a write, to a disk perhaps
constexpr std::size_t most_threads = 1024;
constexpr std::size_t stack_bytes = std::size_t{64} << 10;

enum class Phase : std::uint32_t { stopping, stopped, failed, resuming };

struct Traced {
    pid_t id = 0;
    int signal = 0; ///< that was about to be delivered, and is when it goes on
    bool stands = false;
};

/// Who is stopped asleep in one of these gets an answer that the program may not expect: less than
/// it asked for, or EINTR. Not here: what starts again by itself, and what everybody calls in a
/// loop, as epoll_wait.
constexpr std::array disturbed{
    SYS_write,          SYS_writev,     SYS_sendto,          SYS_sendmsg,
    SYS_sendmmsg,       SYS_recvfrom,   SYS_recvmsg,         SYS_recvmmsg,
    SYS_sendfile,       SYS_splice,     SYS_vmsplice,        SYS_tee,
    SYS_semop,          SYS_semtimedop, SYS_rt_sigtimedwait, SYS_io_getevents,
    SYS_io_uring_enter,
};

/// A short text of the kernel's.
struct Text {
    std::array<char, 512> characters{};
    [[nodiscard]] std::string_view view() const noexcept { return characters.data(); }
};

} // namespace

/// What the two share.
struct StoppedThreads::Tracer {
    std::atomic<Phase> phase{Phase::stopping};
    int reason = 0; ///< why it failed
    Clock::time_point begin;
    pid_t tracer = 0;
    pid_t process = 0;
    pid_t spared = 0;   ///< the thread that stops the others
    int bell = -1;      ///< an event that the tracer signals when it has stopped them, or has not
    bool alone = false; ///< there is no other thread; the tracer ends at once
    std::size_t threads = 0;
    std::array<Traced, most_threads> traced{};
    alignas(dirent64) std::array<std::byte, 4096> listing{};
    alignas(16) std::array<std::byte, stack_bytes> stack;

    static int run(void* tracer) noexcept;
    bool stop_all() noexcept;
    bool trace_new(bool& any) noexcept;
    bool trace_listed(long bytes, bool& any) noexcept;
    [[nodiscard]] bool knows(pid_t id) const noexcept;
    bool trace(pid_t id, bool& any) noexcept;
    [[nodiscard]] Text text_of(pid_t id, std::string_view name) const noexcept;
    [[nodiscard]] bool has_ended(pid_t id) const noexcept;
    [[nodiscard]] bool would_be_disturbed(pid_t id) const noexcept;
    bool await_all() noexcept;
    [[nodiscard]] bool await_news() const noexcept;
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

/// "/proc/PROCESS/task", and what of a task.
class TaskPath {
public:
    explicit TaskPath(pid_t process) noexcept
    {
        append("/proc/");
        append(process);
        append("/task");
    }
    void append(std::string_view text) noexcept
    {
        end_ = std::copy(text.begin(), text.end(), end_);
    }
    void append(pid_t number) noexcept { end_ = std::to_chars(end_, end_ + 16, number).ptr; }
    [[nodiscard]] int open(int flags) const noexcept
    {
        return static_cast<int>(
            syscall(SYS_openat, AT_FDCWD, text_.data(), O_RDONLY | O_CLOEXEC | flags));
    }

private:
    std::array<char, 96> text_{};
    char* end_ = text_.data();
};

/// Nothing where it cannot be read.
Text text_in(int file) noexcept
{
    Text text;
    if (file >= 0) {
        syscall(SYS_read, file, text.characters.data(), text.characters.size() - 1);
        syscall(SYS_close, file);
    }
    return text;
}

/// Where /proc is that of another namespace of processes, its numbers mean others.
bool proc_is_ours(pid_t process) noexcept
{
    Text self;
    syscall(SYS_readlinkat, AT_FDCWD, "/proc/self", self.characters.data(),
            self.characters.size() - 1);
    pid_t number = 0;
    std::from_chars(self.view().data(), self.view().data() + self.view().size(), number);
    return number == process;
}

/// Yama lets parents trace and nobody else, unless they are asked to. The setting forbids asking.
bool may_ask_yama() noexcept
{
    constexpr const char* scope = "/proc/sys/kernel/yama/ptrace_scope";
    if (settings().kernel_copy == kernel_copy_never) {
        return false;
    }
    const auto file = static_cast<int>(syscall(SYS_openat, AT_FDCWD, scope, O_RDONLY | O_CLOEXEC));
    return text_in(file).view().substr(0, 1) == "1";
}

/// ThreadSanitizer keeps an account of each thread, and the tracer has none.
#ifdef __SANITIZE_THREAD__
constexpr bool is_instrumented = true;
#else
constexpr bool is_instrumented = false;
#endif

/// Valgrind runs the tracer as a thread of its own, behind a lock that a stopped one may hold.
bool is_emulated() noexcept
{
    const char* preloaded = std::getenv("LD_PRELOAD");
    return preloaded != nullptr &&
           std::string_view(preloaded).find("vgpreload_") != std::string_view::npos;
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
    constexpr std::array<std::uint64_t, 4> by_default{}; // what the kernel takes for a sigaction
    syscall(SYS_rt_sigaction, SIGCHLD, by_default.data(), nullptr, sizeof(std::uint64_t));
    // The parent may have ended before that, or be in another namespace of processes.
    const bool stopped = getppid() == self.process ? self.stop_all() : self.fail(EPERM);
    if (!stopped) {
        self.let_go();
    }
    self.phase.store(stopped ? Phase::stopped : Phase::failed, std::memory_order_release);
    constexpr std::uint64_t once = 1;
    syscall(SYS_write, self.bell, &once, sizeof once);
    if (self.alone) {
        return 0; // at once, so that nobody waits for the thread that it has traced just now
    }
    while (self.phase.load(std::memory_order_acquire) == Phase::stopped) {
        futex(self.phase, FUTEX_WAIT, static_cast<std::uint32_t>(Phase::stopped));
    }
    if (stopped) {
        self.let_go();
    }
    return 0;
}

/// Looks again until there is no new one, twice: what has not stopped yet may start others, and a
/// directory that changes while it is read may hide one.
bool StoppedThreads::Tracer::stop_all() noexcept
{
    for (int quiet = 0; quiet < 2;) {
        bool any = false;
        if (!trace_new(any) || !await_all()) {
            return false;
        }
        if (Clock::now() - begin > longest_stopping) {
            return fail(ETIMEDOUT);
        }
        quiet = any ? 0 : quiet + 1;
    }
    // Where there is none, it tries whether it might.
    alone = threads == 0;
    return !alone || ptrace(PTRACE_SEIZE, spared, nullptr, nullptr) == 0 || fail(errno);
}

bool StoppedThreads::Tracer::trace_new(bool& any) noexcept
{
    const int directory = TaskPath(process).open(O_DIRECTORY);
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
        if (id != 0 && id != spared && !knows(id) && !trace(id, any)) {
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

bool StoppedThreads::Tracer::trace(pid_t id, bool& any) noexcept
{
    if (threads == traced.size()) {
        return fail(EAGAIN);
    }
    if (ptrace(PTRACE_SEIZE, id, nullptr, nullptr) != 0) {
        const int why = errno;
        return has_ended(id) || fail(why);
    }
    any = true;
    traced[threads++] = {.id = id};
    if (would_be_disturbed(id)) {
        return fail(EBUSY);
    }
    ptrace(PTRACE_INTERRUPT, id, nullptr, nullptr);
    return true;
}

Text StoppedThreads::Tracer::text_of(pid_t id, std::string_view name) const noexcept
{
    TaskPath path(process);
    path.append("/");
    path.append(id);
    path.append(name);
    return text_in(path.open(0));
}

/// Also the first thread that has ended before others, which stays in the list.
bool StoppedThreads::Tracer::has_ended(pid_t id) const noexcept
{
    const Text stat = text_of(id, "/stat");
    const std::size_t name_end = stat.view().rfind(')');
    const std::string_view state =
        name_end != std::string_view::npos ? stat.view().substr(name_end) : std::string_view();
    return state.empty() || state.substr(0, 3) == ") Z" || state.substr(0, 3) == ") X";
}

/// "running", or the number of the system call that it sleeps in, and more. Where the kernel does
/// not tell, it is taken not to be.
bool StoppedThreads::Tracer::would_be_disturbed(pid_t id) const noexcept
{
    const Text call = text_of(id, "/syscall");
    long number = -1;
    std::from_chars(call.view().data(), call.view().data() + call.view().size(), number);
    return std::find(disturbed.begin(), disturbed.end(), number) != disturbed.end();
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
        } else if (answer != 0 || (!await_news() && has_ended(thread.id))) {
            thread = traced[--threads];
        } else if (Clock::now() - begin > longest_stopping) {
            return fail(ETIMEDOUT);
        }
    }
    return true;
}

/// Sleeps until one may have stopped: on crowded cores who is to stop needs a turn first. The
/// kernel tells of each by SIGCHLD, which is blocked, and so stays there, but for a first thread
/// that ends before the others. False: it is too late.
bool StoppedThreads::Tracer::await_news() const noexcept
{
    using std::chrono::nanoseconds;
    const nanoseconds left = begin + longest_stopping - Clock::now();
    if (left <= nanoseconds::zero()) {
        return false;
    }
    constexpr std::uint64_t news = std::uint64_t{1} << (SIGCHLD - 1);
    const timespec limit{.tv_sec = left / std::chrono::seconds(1),
                         .tv_nsec = (left % std::chrono::seconds(1)).count()};
    syscall(SYS_rt_sigtimedwait, &news, nullptr, &limit, sizeof news);
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
    if (is_instrumented || is_emulated() || !proc_is_ours(getpid())) {
        errno = ENOTSUP;
        return {};
    }
    StoppedThreads stopped = stop_once();
    for (int retries = 0; !stopped && errno == EBUSY && retries < most_retries; ++retries) {
        const timespec moment{.tv_sec = 0, .tv_nsec = 1'000'000};
        syscall(SYS_nanosleep, &moment, nullptr);
        stopped = stop_once();
    }
    if (!stopped && errno == EPERM) {
        const bool asked =
            may_ask_yama() && syscall(SYS_prctl, PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0) == 0;
        errno = EPERM;
        if (asked) {
            stopped = stop_once();
        }
    }
    return stopped;
}

StoppedThreads StoppedThreads::stop_once() noexcept
{
    File bell(static_cast<int>(syscall(SYS_eventfd2, 0, EFD_CLOEXEC)));
    if (!bell) {
        return {};
    }
    const long place = syscall(SYS_mmap, nullptr, sizeof(Tracer), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == -1) {
        return {};
    }
    StoppedThreads stopped;
    auto* tracer = new (reinterpret_cast<void*>(place)) Tracer; // NOLINT: an address
    tracer->process = getpid();
    tracer->spared = static_cast<pid_t>(syscall(SYS_gettid));
    tracer->bell = bell.release();
    tracer->begin = Clock::now();
    tracer->tracer = clone(Tracer::run, tracer->stack.data() + tracer->stack.size(),
                           CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_UNTRACED, tracer);
    stopped.tracer_ = tracer;
    if (tracer->tracer < 0) {
        tracer->reason = errno;
        tracer->phase = Phase::failed;
    }
    stopped.await_tracer();
    if (tracer->phase.load(std::memory_order_relaxed) == Phase::failed) {
        errno = tracer->reason;
        stopped.resume();
    }
    return stopped;
}

/// Until it has done its work, or will not. It has failed, too, if it was killed, by a filter of
/// system calls for instance.
void StoppedThreads::await_tracer() noexcept
{
    while (tracer_->phase.load(std::memory_order_acquire) == Phase::stopping) {
        pollfd answer{.fd = tracer_->bell, .events = POLLIN, .revents = 0};
        timespec moment{.tv_sec = 0, .tv_nsec = 10'000'000};
        syscall(SYS_ppoll, &answer, 1, &moment, nullptr, 0);
        const bool late = Clock::now() - tracer_->begin > longest_tracer;
        if (late) {
            end_tracer();
        }
        if (!stand_still() && tracer_->phase.load(std::memory_order_acquire) == Phase::stopping) {
            tracer_->reason = late ? ETIMEDOUT : EPERM;
            tracer_->phase = Phase::failed;
        }
    }
}

/// What it has stopped goes on, without a signal that was on its way: only where the tracer does
/// not even get to give up by itself.
void StoppedThreads::end_tracer() noexcept
{
    int status = 0;
    if (tracer_->tracer > 0) {
        syscall(SYS_kill, tracer_->tracer, SIGKILL);
        wait_for(tracer_->tracer, status, 0);
        tracer_->tracer = 0;
    }
}

/// Neither call can fail while the tracer lives, see above.
bool StoppedThreads::stand_still() noexcept
{
    int status = 0;
    if (tracer_->tracer > 0 && wait_for(tracer_->tracer, status, WNOHANG) != 0) {
        tracer_->tracer = 0; // and all go on
    }
    return tracer_->tracer > 0 || tracer_->alone;
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
    syscall(SYS_close, tracer->bell);
    syscall(SYS_munmap, tracer, sizeof *tracer);
    errno = before;
}

} // namespace sidelight::host::memory
