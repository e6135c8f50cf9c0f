// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "rma/epoch/contacts.hpp"

namespace sidelight::rma {

/// The barriers of one window, numbered from 1. Arriving never waits; `passed` is polled by each
/// member until it is true. A member arrives at a number only after it has passed the one before.
/// Inside a node a sum in shared memory; between nodes dissemination among their leaders: in round
/// r each tells the one 2^r further on. See docs/design/fence.md.
class Barrier {
public:
    Barrier(Contacts& contacts, Channels& channels, const BarrierShape& shape) noexcept;

    /// Announces this member at barrier `number`. Does nothing if it has done so already.
    void arrive(std::uint64_t number) noexcept;
    /// Announces a neighbour, which knows it and does not do so itself.
    void arrive_for_another(std::uint64_t number) noexcept;
    /// A neighbour has announced this member, or is about to.
    void note_arrival(std::uint64_t number) noexcept { arrived_ = number; }

    /// Whether every member has arrived at `number`. The leader carries the barrier on meanwhile.
    [[nodiscard]] bool passed(std::uint64_t number) noexcept;

    /// All of another node have arrived, as far as the round is concerned.
    void receive(Channel& from, const BarrierBody& body) noexcept;

    [[nodiscard]] bool has_arrived(std::uint64_t number) const noexcept
    {
        return arrived_ >= number;
    }
    /// Messages that have carried it to other nodes so far: who has sent one has moved on.
    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
    /// Whether this member carries it on to other nodes.
    [[nodiscard]] bool leads() const noexcept { return leads_; }

    [[nodiscard]] const BarrierShape& shape() const noexcept { return shape_; }

private:
    static constexpr std::uint32_t max_rounds = 32;

    [[nodiscard]] bool node_arrived(std::uint64_t number) const noexcept;
    bool disseminate(std::uint64_t number) noexcept;
    bool send_round(std::uint64_t number, std::uint32_t round) noexcept;
    void wake(bool all_arrived, std::uint64_t number) noexcept;

    Contacts& contacts_;
    Channels& channels_;
    BarrierShape shape_;
    bool leads_;
    std::uint64_t arrived_ = 0;
    std::uint64_t passed_ = 0;
    std::uint64_t sent_ = 0; ///< the barrier that `round_` belongs to
    std::uint32_t round_ = 0;
    std::uint64_t steps_ = 0;
    std::array<std::uint64_t, max_rounds> heard_{};
};

} // namespace sidelight::rma
