// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
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
    /// After a step that costs more than usual: it may take 1 part in 64 of a core.
    static constexpr Time longest_after_costly{20'000'000};

    /// The program has become somebody to wait for.
    void begin(Time now) noexcept
    {
        waiting_since_ = now;
        nap_ = shortest;
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
        if (saw == Saw::motion) {
            waiting_since_ = now;
            return Time(0);
        }
        const Time by_patience = std::clamp((now - waiting_since_) / 8, shortest, longest);
        return std::max(by_patience, std::min(64 * cost, longest_after_costly));
    }

private:
    Time waiting_since_{}; ///< for the program, or for anything to move
    Time nap_ = shortest;  ///< while the program comes by again and again
};

} // namespace sidelight::messages
