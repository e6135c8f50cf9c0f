// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/own_thread.hpp"

#include <exception>

#include <pthread.h>
#include <sys/prctl.h>

#include "base/log.hpp"
#include "host/library_threads.hpp"
#include "host/signals.hpp"

namespace sidelight::host::node {

std::thread start_own_thread(const char* kind, void (*run)(void* context) noexcept,
                             void* context) noexcept
{
    constexpr unsigned long timer_slack = 1000; // nanoseconds
    std::thread started;
    try {
        const LibraryThreads not_of_the_program;
        const SignalsBlocked blocked;
        started = std::thread([run, context] {
            prctl(PR_SET_TIMERSLACK, timer_slack, 0, 0, 0);
            run(context);
        });
    } catch (const std::exception& error) { // no memory is another one than no thread
        log(LogLevel::warn, "no %s thread: %s", kind, error.what());
        return started;
    }
    pthread_setname_np(started.native_handle(), "sidelight");
    return started;
}

} // namespace sidelight::host::node
