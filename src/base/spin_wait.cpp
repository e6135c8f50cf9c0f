// SPDX-License-Identifier: BSD-3-Clause
#include "base/spin_wait.hpp"

#include <sched.h>
#include <time.h>

#include "base/cpu.hpp"

namespace sidelight {

void SpinWait::pause() noexcept
{
    constexpr int yields = 64;
    constexpr timespec nap{.tv_sec = 0, .tv_nsec = 50'000};
    if (turns_ < spins_) {
        relax_cpu();
    } else if (turns_ < spins_ + yields) {
        sched_yield();
    } else {
        nanosleep(&nap, nullptr);
        turns_ = spins_;
        return;
    }
    ++turns_;
}

} // namespace sidelight
