// SPDX-License-Identifier: BSD-3-Clause
#include "base/spin_wait.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>

namespace sidelight::unit {
namespace {

/// How often this thread has slept.
long sleeps()
{
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

/// Always again, and seldom: who sleeps each time finds nothing free that others take all the time.
TEST(SpinWait, SleepsOnceInManyTurns)
{
    constexpr int turns = 65; // one sleep behind as many yields as there are
    constexpr int rounds = 20;
    SpinWait wait(10);
    const long before = sleeps();
    for (int turn = 0; turn < 10 + rounds * turns; ++turn) {
        wait.pause();
    }
    EXPECT_EQ(sleeps() - before, rounds);
}

} // namespace
} // namespace sidelight::unit
