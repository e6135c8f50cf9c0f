// SPDX-License-Identifier: BSD-3-Clause
#include "base/process_end.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <ctime>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sidelight {
namespace {

TEST(ProcessEnd, IsSeenBeforeAndAfterSomebodyHasWaited)
{
    const pid_t child = fork();
    if (child == 0) {
        for (;;) {
            pause();
        }
    }
    EXPECT_FALSE(has_ended(getpid()));
    EXPECT_FALSE(has_ended(child));
    kill(child, SIGKILL);
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
    EXPECT_TRUE(has_ended(child)); // a zombie
    waitpid(child, nullptr, 0);
    EXPECT_TRUE(has_ended(child));
}

/// Whoever has its number now was started at another time, and has not its file.
TEST(ProcessEnd, ANumberThatIsUsedAgainIsAnotherProcess)
{
    const File file = create_memory_file();
    const MemoryFileAddress at = address_of(file);
    const std::uint64_t started = started_at(getpid());
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    const std::uint64_t ticks = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
    EXPECT_GT(started, 0U);
    EXPECT_LE(started, (static_cast<std::uint64_t>(now.tv_sec) + 1) * ticks);
    EXPECT_GT(started + 3600 * ticks, static_cast<std::uint64_t>(now.tv_sec) * ticks);
    MemoryFileAddress closed = at;
    ++closed.inode;
    EXPECT_FALSE(has_ended(at, started));
    EXPECT_FALSE(has_ended(closed, started));
    EXPECT_FALSE(has_ended(at, started + 1));
    EXPECT_FALSE(has_ended(closed, 0));
    EXPECT_TRUE(has_ended(closed, started + 1));
}

TEST(ProcessEnd, NeedsNoDescriptor)
{
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    rlimit none = before;
    none.rlim_cur = 0;
    const pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    waitpid(child, nullptr, 0);
    setrlimit(RLIMIT_NOFILE, &none);
    const bool self = has_ended(getpid());
    const bool other = has_ended(child);
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_FALSE(self);
    EXPECT_TRUE(other);
}

} // namespace
} // namespace sidelight
