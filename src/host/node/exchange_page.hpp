// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sidelight::host::node {

/// Memory in which members on one node tell one another something, round by round: all tell in
/// round n before one of them reads it, and all have read it before one tells in round n + 2, which
/// is written where n was. Nobody waits in it. See docs/design/recurring-windows.md.
class ExchangePage {
public:
    /// What one member can tell in one round.
    static constexpr std::size_t most_bytes = 256;

    [[nodiscard]] static constexpr std::size_t bytes(std::size_t members) noexcept
    {
        return sizeof(Head) + 2 * members * sizeof(Slot);
    }

    /// `memory`, of so many bytes, on a cache line and zeroed before any member came, outlives it.
    ExchangePage(std::byte* memory, std::size_t members, std::size_t index) noexcept;

    [[nodiscard]] std::size_t members() const noexcept { return members_; }
    [[nodiscard]] std::size_t index() const noexcept { return index_; }

    /// Begins the next round. Answers whether all others have told before: they may be waiting.
    bool tell(std::span<const std::byte> mine) noexcept;
    /// Whether all have told in the round that this member is in.
    [[nodiscard]] bool all_told() const noexcept;
    /// Whether one of them has left before that round, and will never tell.
    [[nodiscard]] bool is_abandoned() const noexcept;
    /// What a member has told in this round, on a cache line.
    [[nodiscard]] const std::byte* told_by(std::size_t member) const noexcept
    {
        return slot(member).bytes;
    }

    /// This member takes part in no further round.
    void leave() noexcept;

private:
    struct Head {
        alignas(64) std::atomic<std::uint64_t> told{0}; ///< by all members in all rounds
        alignas(64) std::atomic<std::uint64_t> end{0};  ///< the first round that lacks one; 0: none
    };
    struct alignas(64) Slot {
        std::byte bytes[most_bytes];
    };

    [[nodiscard]] Slot& slot(std::size_t index) const noexcept
    {
        return slots_[round_ % 2 * members_ + index];
    }

    Head* head_;
    Slot* slots_;
    std::size_t members_;
    std::size_t index_;
    std::uint64_t round_ = 0;
};

} // namespace sidelight::host::node
