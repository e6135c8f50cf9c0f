// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <signal.h>

namespace sidelight::host {

/// While it lives no handler runs in this thread, nor in threads that it starts, but for what the
/// thread itself does: a program that protects its pages, to see what is written, answers the
/// SIGSEGV of whoever writes there, and a fault whose signal is blocked ends the process.
class SignalsBlocked {
public:
    SignalsBlocked() noexcept
    {
        sigset_t others;
        sigfillset(&others);
        for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
            sigdelset(&others, fault);
        }
        pthread_sigmask(SIG_SETMASK, &others, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:
    sigset_t before_{};
};

} // namespace sidelight::host
