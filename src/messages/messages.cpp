// SPDX-License-Identifier: BSD-3-Clause
#include "messages/messages.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include <pthread.h>

#include "base/log.hpp"
#include "base/settings.hpp"

namespace sidelight::messages {

namespace {

void log_counts(const StepCounts& counts) noexcept
{
    const auto of = [](const std::atomic<std::uint64_t>& count) {
        return static_cast<unsigned long long>(count.load(std::memory_order_relaxed));
    };
    log(LogLevel::info,
        "message thread: woken %llu times, looked %llu times; %llu steps of the host's progress, "
        "%llu of which have moved something; found %llu requests complete; %llu us in the host",
        of(counts.wakes), of(counts.looks), of(counts.steps), of(counts.moved), of(counts.found),
        of(counts.busy_ns) / 1000);
}

} // namespace

Messages::Messages(AskStatus* status, ThreadCalls below) noexcept
    : limit_(static_cast<std::uint64_t>(settings().large_message)),
      status_(status),
      thread_(presence_, requests_, stretches_, conditions_, status, below)
{}

bool Messages::begin(int level) noexcept
{
    const std::scoped_lock lock(life_);
    if (made_ == nullptr) {
        AskStatus* status = find_status_of_host();
        const ThreadCalls below = find_thread_calls();
        if (status == nullptr || !below) {
            log(LogLevel::warn, "no progress of messages: %s is not loaded behind this library",
                status == nullptr ? "MPI" : "libsidelight.so");
            return false;
        }
        made_ = new (std::nothrow) Messages(status, below);
        if (made_ == nullptr) {
            return false;
        }
        pthread_atfork(before_fork, in_parent, in_child);
        std::atexit(at_exit);
    }
    if (level == MPI_THREAD_MULTIPLE) {
        conditions_.program_has_threads.store(true, std::memory_order_relaxed);
    }
    active_.store(made_, std::memory_order_release);
    return true;
}

void Messages::end(bool for_good) noexcept
{
    const std::scoped_lock lock(life_);
    Messages* messages = active();
    if (messages == nullptr) {
        return;
    }
    messages->thread_.stop();
    if (for_good) {
        active_.store(nullptr, std::memory_order_release);
        messages->requests_.forget_all();
        log_counts(messages->thread_.counts());
    } else if (messages->requests_.live() != 0) {
        messages->thread_.wake(); // those of sessions go on
    }
}

void Messages::set_wanted(bool wanted) noexcept
{
    conditions_.wanted.store(wanted, std::memory_order_seq_cst);
    if (active() == nullptr) {
        return;
    }
    const std::scoped_lock lock(life_);
    if (Messages* messages = active(); messages != nullptr && messages->requests_.live() != 0) {
        messages->thread_.wake();
    }
}

/// The host and the C library are left alone while the process is copied. MPI may begin or end
/// meanwhile, on another thread. A handler of a fault in our thread's step, which may fork, is in
/// the host anyway; so may a handler of errors be, with a lock that the step waits for.
void Messages::before_fork() noexcept
{
    forking_ = Presence::is_stepping_here() ? nullptr : active();
    if (forking_ != nullptr) {
        forking_->presence_.enter_before_long();
    }
}

void Messages::in_parent() noexcept
{
    if (Messages* messages = std::exchange(forking_, nullptr); messages != nullptr) {
        messages->presence_.leave();
    }
}

/// A child has none of its parent's threads, and no MPI.
void Messages::in_child() noexcept
{
    if (Messages* messages = active_.exchange(nullptr); messages != nullptr) {
        messages->thread_.forget();
    }
}

/// A program may end without MPI_Finalize; then the host's objects go while the thread is there. It
/// makes no further step: whoever ends is inside for good. The last one may wait for who ends here.
void Messages::at_exit() noexcept
{
    if (Messages* messages = active(); messages != nullptr) {
        messages->presence_.enter_before_long();
    }
}

} // namespace sidelight::messages
