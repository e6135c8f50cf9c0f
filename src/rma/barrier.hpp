// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "rma/control.hpp"

namespace sidelight::rma {

class Window;

/// The barriers of one window, numbered from 1. Arriving never waits; `passed` is polled. A member
/// arrives at a number only after it has passed the one before. On one node a sum in shared memory;
/// else dissemination: in round r each member tells the one 2^r further on. See
/// docs/design/fence.md.
class Barrier {
public:
    /// `word` is null where not every member maps it.
    Barrier(Window& window, BarrierWord* word) noexcept : window_(window), word_(word) {}

    /// Announces this member at barrier `number`. Does nothing if it has done so already.
    void arrive(std::uint64_t number) noexcept;

    /// Whether every member has arrived at `number`; sends the next round's message where it can.
    [[nodiscard]] bool passed(std::uint64_t number) noexcept;

    /// A member has arrived at `number` as far as `round` is concerned.
    void receive(std::uint32_t round, std::uint64_t number) noexcept;

private:
    static constexpr std::uint32_t max_rounds = 32;

    void send_round() noexcept;

    Window& window_;
    BarrierWord* word_;
    std::uint64_t arrived_ = 0;
    std::uint64_t passed_ = 0;
    std::uint32_t round_ = 0;
    std::array<std::uint64_t, max_rounds> heard_{};
};

} // namespace sidelight::rma
