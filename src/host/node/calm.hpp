// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "base/clock.hpp"

namespace sidelight::host::node {

/// Whether a loop that is not ours goes round and round with nothing to do, told by how long its
/// turns take: nothing in it is quicker than finding nothing. A turn in which a message is sent or
/// taken takes five times as long or more, and so does one in which the loop was left and the
/// program has computed: longer than any that is empty, where it always does. Fed with the time of
/// some turns at once.
class Calm {
public:
    /// `turns` and their time, always of the same number.
    void add(Time time, int turns) noexcept
    {
        least_ = known_ == 0 ? time : std::min(least_, time);
        known_ = std::min(known_ + 1, enough);
        const bool calm = 2 * time <= 5 * least_ && time <= turns * longest_empty;
        level_ = calm ? std::min(level_ + 1, most) : std::max(level_ - loss, 0);
    }
    /// Something has moved, which is known for certain.
    void disturb() noexcept { level_ = 0; }

    /// Nothing has moved for some time, but for a rare interruption.
    [[nodiscard]] bool lasts() const noexcept { return known_ == enough && level_ >= some; }
    /// Something moves.
    [[nodiscard]] bool is_over() const noexcept { return level_ == 0; }

private:
    static constexpr std::chrono::microseconds longest_empty{3}; ///< turn: over TCP one takes 0.5
    static constexpr int enough = 64; ///< before the least of them is believed
    static constexpr int some = 8;
    static constexpr int most = 16;
    /// For what is not calm: while nothing moves one in ten is not, else most.
    static constexpr int loss = 3;

    Time least_{};
    int known_ = 0;
    int level_ = 0;
};

} // namespace sidelight::host::node
