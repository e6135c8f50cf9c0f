// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/loop_pause.hpp"

#include <algorithm>

#include <sched.h>

#include "base/settings.hpp"

namespace sidelight::host::node {

namespace {

using namespace std::chrono_literals;

/// Where ranks outnumber cores.
constexpr unsigned turns_per_yield = 64;
/// Where nobody computes on the core, the turns before one look in so many are measured.
constexpr unsigned looks_per_measurement = 64;
constexpr Time stretch_before_naps = 50us;
constexpr Time stretch_between_naps = 20us;

Time length_of_nap(int naps) noexcept
{
    constexpr int naps_of_a_length = 4;
    constexpr Time longest_nap = 200us;
    Time length = 50us;
    for (; naps >= naps_of_a_length && length < longest_nap; naps -= naps_of_a_length) {
        length *= 2;
    }
    return length;
}

} // namespace

void LoopPause::look(Waiter& waiter, bool may_sleep, bool (*poll)(void*) noexcept,
                     void* context) noexcept
{
    if (turns_ % turns_per_yield == 0 && waiter.crowded()) {
        sched_yield();
    }
    if (!may_sleep || !settings().sleep) {
        measures_ = false;
        return;
    }
    const Time now = sidelight::now();
    if (measures_) {
        calm_.add(outside_, turns_per_look);
        outside_ = {};
    }
    if (demand_.is_due(now)) {
        demand_.look(core_use(now));
    }
    const bool wanted = demand_.is_wanted(now);
    if (calm_.is_over() || !wanted) {
        begin_ = now;
        naps_ = 0;
    }
    if (wanted && calm_.lasts() &&
        now - begin_ >= (naps_ == 0 ? stretch_before_naps : stretch_between_naps)) {
        nap(waiter, poll, context);
    }
    measures_ = wanted || turns_ / turns_per_look % looks_per_measurement == 0;
}

void LoopPause::nap(Waiter& waiter, bool (*poll)(void*) noexcept, void* context) noexcept
{
    waiter.doze(poll, context, length_of_nap(naps_));
    ++naps_;
    begin_ = now();
}

} // namespace sidelight::host::node
