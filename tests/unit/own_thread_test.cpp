// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/own_thread.hpp"

#include <signal.h>

namespace sidelight::host::node {
namespace {

TEST(OwnThread, HasSignalsOfItsOwnFaultsAndNoOthers)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    std::thread thread = start_own_thread(
        "test",
        [](void* mask) noexcept {
            pthread_sigmask(SIG_SETMASK, nullptr, static_cast<sigset_t*>(mask));
        },
        &blocked);
    ASSERT_TRUE(thread.joinable());
    thread.join();
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
        EXPECT_EQ(sigismember(&blocked, fault), 0) << fault;
    }
    for (const int other : {SIGTERM, SIGALRM, SIGINT, SIGCHLD, SIGUSR1, SIGPROF}) {
        EXPECT_EQ(sigismember(&blocked, other), 1) << other;
    }
}

} // namespace
} // namespace sidelight::host::node
