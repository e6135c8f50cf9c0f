// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace sidelight {

/// Between the looks of a thread at what another one holds for a moment: it spins, then yields, as
/// the other one may have lost its core, and once in 64 times sleeps for 50 us, as that may have
/// been to this thread, whose yields leave it nothing where its priority is higher (SCHED_FIFO).
/// No oftener: what others take and give back all the time is found free by who looks often.
class SpinWait {
public:
    explicit SpinWait(int spins) noexcept : spins_(spins) {}
    void pause() noexcept;

private:
    const int spins_;
    int turns_ = 0;
};

} // namespace sidelight
