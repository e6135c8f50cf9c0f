// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/clock.hpp"
#include "base/close_polls.hpp"

/// When a thread of our own that may sleep for long should be woken because the program is about to
/// compute. Pure: fed with times. See docs/design/message-thread.md.
namespace sidelight {

/// Whether the program is likely to compute for a while when it has left something to be moved: a
/// large request of the host's, or operations that wait for a grant. It is, if it has done so in
/// one of the last phases. A phase is a time in which there is such a thing, or a part of a long
/// one. Told by the calls of the program, of any of its threads: hints.
class Stretches {
public:
    /// Out of MPI for less than that, it gains nothing from a thread that has to wake up first.
    static constexpr Time long_enough{150'000};
    /// So many phases without a long stretch, and none is expected.
    static constexpr int patience = 8;
    /// A phase has so many stretches at most.
    static constexpr int most_stretches = 64;

    /// The program is in MPI all the same, in a call that nobody notes.
    void is_inside(Time now) noexcept
    {
        judge(now);
        if (since_.load(std::memory_order_relaxed) != Time(0)) {
            since_.store(now, std::memory_order_relaxed);
        }
    }
    /// A call ends while there is.
    void left(Time now) noexcept
    {
        since_.store(now, std::memory_order_relaxed);
        in_phase_.store(true, std::memory_order_relaxed);
    }
    /// At the beginning and the end of each call, `left_something`: there is something to be moved.
    /// The clock is asked only where that matters: for a phase one long stretch is enough.
    template <class Now>
    void call_begins(Now now) noexcept
    {
        if (in_phase()) [[unlikely]] {
            if (!has_long_.load(std::memory_order_relaxed)) {
                judge(now());
            }
            came();
        }
    }
    template <class Now>
    void call_ends(bool left_something, Now now) noexcept
    {
        if (left_something) [[unlikely]] {
            left(now());
        } else if (in_phase()) [[unlikely]] {
            end_phase();
        }
    }
    /// The same for a call that polls. `ticks`: a quicker clock, of any speed. A poll that takes
    /// long itself, and finds nothing, may be taken for a stretch.
    template <class Now, class Ticks>
    void poll_begins(Now now, Ticks ticks) noexcept
    {
        if (in_phase()) [[unlikely]] {
            const std::uint64_t tick = ticks();
            const bool noted = polls_.is_noted(tick);
            poll_is_noted_.store(noted, std::memory_order_relaxed);
            if (noted) {
                const Time time = now();
                polls_.note(time, tick);
                judge(time);
                came();
            }
        }
    }
    /// `in_vain`: it has found nothing.
    template <class Now>
    void poll_ends(bool in_vain, bool left_something, Now now) noexcept
    {
        const bool goes_on = in_vain && left_something && in_phase();
        if (!goes_on || poll_is_noted_.load(std::memory_order_relaxed)) {
            call_ends(left_something, now);
        }
    }
    /// Whether the program is out of MPI, and for long enough already.
    [[nodiscard]] bool is_long(Time now) const noexcept
    {
        const Time since = since_.load(std::memory_order_relaxed);
        return since != Time(0) && now - since >= long_enough;
    }
    [[nodiscard]] bool in_phase() const noexcept
    {
        return in_phase_.load(std::memory_order_relaxed);
    }
    /// There is none any more.
    void end_phase() noexcept
    {
        const int expected = expected_.load(std::memory_order_relaxed);
        const bool long_one = has_long_.load(std::memory_order_relaxed);
        expected_.store(long_one ? patience : std::max(expected - 1, 0), std::memory_order_relaxed);
        has_long_.store(false, std::memory_order_relaxed);
        since_.store(Time(0), std::memory_order_relaxed);
        in_phase_.store(false, std::memory_order_relaxed);
        count_.store(0, std::memory_order_relaxed);
    }
    [[nodiscard]] bool expects_long() const noexcept
    {
        return expected_.load(std::memory_order_relaxed) > 0;
    }

private:
    /// A stretch is over, unless another thread's call was first.
    void came() noexcept
    {
        if (since_.load(std::memory_order_relaxed) == Time(0)) {
            return;
        }
        since_.store(Time(0), std::memory_order_relaxed);
        count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        if (count_.load(std::memory_order_relaxed) == most_stretches) {
            end_phase();
        }
    }
    void judge(Time now) noexcept
    {
        if (is_long(now)) {
            has_long_.store(true, std::memory_order_relaxed);
        }
    }

    std::atomic<Time> since_{};           ///< out of MPI; zero: it is not known to be
    std::atomic<int> expected_{patience}; ///< phases yet
    std::atomic<int> count_{0};           ///< of stretches of this phase
    std::atomic<bool> has_long_{false};
    std::atomic<bool> in_phase_{false};
    std::atomic<bool> poll_is_noted_{true};
    ClosePolls polls_;
};

/// Whether it has lately been worth waking the thread: whether it has moved more than the wakes
/// have cost. Hints, from one thread to another.
class Worth {
public:
    static constexpr Time enough{20'000};
    /// So many times not, and it is not; then one start in so many wakes it all the same.
    static constexpr int patience = 8;
    static constexpr unsigned rarely = 16;

    /// The thread: steps that have moved something have taken so long since it was woken.
    void slept_again(Time moved) noexcept
    {
        const int credit = credit_.load(std::memory_order_relaxed);
        credit_.store(moved >= enough ? patience : std::max(credit - 1, 0),
                      std::memory_order_relaxed);
    }
    [[nodiscard]] bool is() const noexcept { return credit_.load(std::memory_order_relaxed) > 0; }
    /// The program: whether to wake it for what is left now.
    [[nodiscard]] bool now() noexcept
    {
        const unsigned starts = starts_.load(std::memory_order_relaxed) + 1;
        starts_.store(starts, std::memory_order_relaxed);
        return is() || starts % rarely == 0;
    }

private:
    std::atomic<int> credit_{patience};
    std::atomic<unsigned> starts_{0};
};

} // namespace sidelight
