// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

/// How often the host gets a step of progress while the program computes. Pure: fed with times.
namespace sidelight::messages {

using Time = std::chrono::nanoseconds;

/// Whether a step has moved anything, which no host tells: told by the processor time that it took.
/// Nothing is quicker than finding nothing, and taking or sending even a part of a large message
/// takes several times as long. What is quickest is learnt anew all the time, within some hundred
/// steps, so that a host which has become slower is not taken for one that moves.
class Motion {
public:
    [[nodiscard]] bool moved(Time step) noexcept
    {
        const bool moves = known_ && step > 2 * quickest_ + least_of_a_move;
        quickest_ = known_ ? std::min(step, quickest_ + quickest_ / 256 + Time(1)) : step;
        known_ = true;
        return moves;
    }

private:
    static constexpr Time least_of_a_move{2000};

    Time quickest_{};
    bool known_ = false;
};

/// Whether the program is likely to compute for a while when it has started a large request:
/// whether it has done so in one of the last phases. A phase is a time in which large requests are
/// under way, or a part of a long one. Told by the calls of the program, of any of its threads:
/// hints.
class Stretches {
public:
    /// Out of MPI for less than that, it gains nothing from a thread that has to wake up first.
    static constexpr Time long_enough{150'000};
    /// So many phases without a long stretch, and none is expected.
    static constexpr int patience = 8;
    /// A phase has so many stretches at most.
    static constexpr int most_stretches = 64;

    /// A call begins while large requests are under way.
    void came(Time now) noexcept
    {
        if (now - since_.load(std::memory_order_relaxed) >= long_enough) {
            has_long_.store(true, std::memory_order_relaxed);
        }
        count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        if (count_.load(std::memory_order_relaxed) == most_stretches) {
            end_phase();
        }
    }
    /// A call ends while some are.
    void left(Time now) noexcept
    {
        since_.store(now, std::memory_order_relaxed);
        in_phase_.store(true, std::memory_order_relaxed);
    }
    [[nodiscard]] bool in_phase() const noexcept
    {
        return in_phase_.load(std::memory_order_relaxed);
    }
    /// None is under way any more.
    void end_phase() noexcept
    {
        const int expected = expected_.load(std::memory_order_relaxed);
        const bool long_one = has_long_.load(std::memory_order_relaxed);
        expected_.store(long_one ? patience : std::max(expected - 1, 0), std::memory_order_relaxed);
        has_long_.store(false, std::memory_order_relaxed);
        in_phase_.store(false, std::memory_order_relaxed);
        count_.store(0, std::memory_order_relaxed);
    }
    [[nodiscard]] bool expects_long() const noexcept
    {
        return expected_.load(std::memory_order_relaxed) > 0;
    }

private:
    std::atomic<Time> since_{};
    std::atomic<int> expected_{patience}; ///< phases yet
    std::atomic<int> count_{0};           ///< of stretches of this phase
    std::atomic<bool> has_long_{false};
    std::atomic<bool> in_phase_{false};
};

/// Whether it has lately been worth waking the thread when a large request was started: whether it
/// has moved more than the wakes have cost. Hints, from one thread to another.
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
    /// The program: whether to wake it for the request that is started.
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

/// How long the thread sleeps before it looks again.
class Pace {
public:
    enum class Saw : std::uint8_t {
        program, ///< in MPI, or come and gone since the last look
        nothing, ///< a step that has moved nothing, or none that was allowed
        motion,  ///< a step that has moved something
    };

    static constexpr Time shortest{50'000};
    static constexpr Time longest{1'000'000};
    /// Steps that move nothing may take 1 part in `share` of a core, and so much at once: of a
    /// message the first is often small, an announcement or the answer to one.
    static constexpr int share = 64;
    static constexpr Time at_once{80'000};
    /// What a wake takes beside, from whoever computes on that core: the timer, and twice another
    /// thread. 5 us on a machine of one's own, 22 on a virtual one.
    static constexpr Time wake{15'000};
    static constexpr Time longest_after_costly{20'000'000};

    /// The thread has been woken for the program, which may make some more calls first.
    void begin(Time now) noexcept
    {
        waiting_since_ = now;
        nap_ = shortest / 2;
        in_vain_ = Time(0);
    }

    /// `cost`: of the step. Zero: look again at once.
    [[nodiscard]] Time next(Saw saw, Time now, Time cost) noexcept
    {
        if (saw == Saw::program) {
            nap_ = std::min(2 * nap_, longest);
            waiting_since_ = now;
            return nap_;
        }
        nap_ = shortest;
        const Time passed = now - looked_at_;
        looked_at_ = now;
        if (saw == Saw::motion) {
            waiting_since_ = now;
            in_vain_ = Time(0);
            return Time(0);
        }
        in_vain_ = std::max(in_vain_ - passed / share, Time(0)) + cost + wake;
        const Time by_patience = std::clamp((now - waiting_since_) / 4, shortest, longest);
        return std::max(by_patience, std::min(share * (in_vain_ - at_once), longest_after_costly));
    }

private:
    Time waiting_since_{}; ///< for the program, or for anything to move
    Time nap_ = shortest;  ///< while the program comes by again and again
    Time looked_at_{};
    Time in_vain_{}; ///< what steps have cost that have moved nothing, less what they may
};

} // namespace sidelight::messages
