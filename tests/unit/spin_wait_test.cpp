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

TEST(SpinWait, SleepsInTheEnd)
{
    constexpr int spins = 10;
    constexpr int turns = 200;
    SpinWait wait(spins);
    for (int turn = 0; turn < turns; ++turn) {
        wait.pause();
    }
    const long before = sleeps();
    for (int turn = 0; turn < turns; ++turn) {
        wait.pause();
    }
    EXPECT_GE(sleeps() - before, turns);
}

} // namespace
} // namespace sidelight::unit
