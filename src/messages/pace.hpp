// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/clock.hpp"

/// How often the host gets a step of progress while the program computes. Pure: fed with times.
namespace sidelight::messages {

/// Whether a step has moved anything, which no host tells: told by the processor time that it took.
/// Nothing is quicker than finding nothing, and taking or sending even a part of a large message
/// takes several times as long. What is quickest is learnt anew all the time, within some hundred
/// steps, so that a host which has become slower is not taken for one that moves.
class Motion {
public:
    /// What of the step went into that. Zero: it has moved nothing.
    [[nodiscard]] Time of(Time step) noexcept
    {
        const Time in_vain = 2 * quickest_ + least_of_a_move;
        const Time moving = known_ ? std::max(step - in_vain, Time(0)) : Time(0);
        quickest_ = known_ ? std::min(step, quickest_ + quickest_ / 256 + Time(1)) : step;
        known_ = true;
        return moving;
    }

private:
    static constexpr Time least_of_a_move{2000};

    Time quickest_{};
    bool known_ = false;
};

/// How long the thread sleeps before it looks again.
class Pace {
public:
    static constexpr Time shortest{50'000};
    static constexpr Time longest{1'000'000};
    /// Nobody cuts a nap short that ends within so long.
    static constexpr Time soon_enough{200'000};
    /// While the program comes by: it moves things itself, and other processes may need this core.
    static constexpr Time longest_behind_program{4'000'000};
    /// Steps that move nothing may take 1 part in `share` of a core, and so much at once: of a
    /// message the first is often small, an announcement or the answer to one.
    static constexpr int share = 80;
    static constexpr Time at_once{80'000};
    /// What has gone into moving something makes up for so many times as much, and so much for all.
    /// Of the steps that move nothing one in some is slow, and taken for one that does.
    static constexpr int pays_for = 3;
    static constexpr Time for_sure{8'000};
    /// What a wake takes beside, from whoever computes on that core: the timer, and twice another
    /// thread. 5 us on a machine of one's own, 22 on a virtual one.
    static constexpr Time wake{15'000};
    static constexpr Time longest_after_costly{20'000'000};
    static constexpr Time most_in_vain = at_once + longest_after_costly / share;

    /// The thread has been woken for the program, which may make some more calls first.
    void begin(Time now) noexcept
    {
        waiting_since_ = now;
        nap_ = shortest / 2;
        in_vain_ = Time(0);
    }

    /// `moving`: what of the look has moved something, zero also where no step was allowed. None:
    /// the program is in MPI, or has come and gone since the last look. `cost`: of the look. Zero:
    /// look again at once.
    [[nodiscard]] Time next(std::optional<Time> moving, Time now, Time cost) noexcept
    {
        if (!moving) {
            nap_ = std::min(2 * nap_, longest_behind_program);
            waiting_since_ = now;
            slept_ = true;
            return nap_;
        }
        nap_ = shortest;
        const Time passed = now - looked_at_;
        looked_at_ = now;
        const bool moved = *moving != Time(0);
        const bool slept = std::exchange(slept_, !moved);
        in_vain_ = std::max(in_vain_ - passed / share, Time(0)) + (slept ? wake : Time(0));
        if (moved) {
            waiting_since_ = now;
            in_vain_ =
                *moving < for_sure ? std::max(in_vain_ - pays_for * *moving, Time(0)) : Time(0);
            return Time(0);
        }
        in_vain_ = std::min(in_vain_ + cost, most_in_vain);
        const Time by_patience = std::clamp((now - waiting_since_) / 4, shortest, longest);
        return std::max(by_patience, std::min(share * (in_vain_ - at_once), longest_after_costly));
    }

private:
    Time waiting_since_{}; ///< for the program, or for anything to move
    Time nap_ = shortest;  ///< while the program comes by again and again
    Time looked_at_{};
    bool slept_ = true; ///< before the next look
    Time in_vain_{};    ///< what steps have cost that have moved nothing, less what they may
};

} // namespace sidelight::messages
