// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/progress_thread.hpp"

#include <chrono>
#include <system_error>

#include <pthread.h>

#include "base/log.hpp"
#include "host/library_threads.hpp"
#include "host/signals.hpp"

namespace sidelight::host::node {

namespace {

/// Everything that it waits for wakes it, but for peers that could not map this process's doorbell.
constexpr std::chrono::milliseconds longest_sleep{100};

} // namespace

bool ProgressThread::start(Waiter& waiter, bool (*sweep)() noexcept) noexcept
{
    if (thread_.joinable()) {
        return true;
    }
    waiter_ = &waiter;
    waiter.expect_long_sleeps();
    sweep_ = sweep;
    stopping_.store(false, std::memory_order_relaxed);
    try {
        const LibraryThreads not_of_the_program;
        const SignalsBlocked blocked; // they are for the program's own threads
        thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
        log(LogLevel::warn, "no progress thread: %s", error.what());
        return false;
    }
    pthread_setname_np(thread_.native_handle(), "sidelight");
    return true;
}

void ProgressThread::stop() noexcept
{
    if (thread_.joinable()) {
        stopping_.exchange(true, std::memory_order_seq_cst);
        waiter_->rouse();
        thread_.join();
    }
}

void ProgressThread::run() noexcept
{
    while (!stopping_.load(std::memory_order_relaxed)) {
        waiter_->doze(
            [](void* self) noexcept { return static_cast<ProgressThread*>(self)->look(); }, this,
            longest_sleep);
    }
}

/// What keeps it from going to sleep.
bool ProgressThread::look() noexcept
{
    return stopping_.load(std::memory_order_relaxed) || sweep_();
}

} // namespace sidelight::host::node
