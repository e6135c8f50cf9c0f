// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "rma/members.hpp"

namespace sidelight::rma {

/// A member on whose memory a concurrent handler runs at this moment: its rank + 1, or 0. In the
/// block of the member that runs it.
struct alignas(64) ActiveSlot {
    std::atomic<std::uint32_t> target{0};
};

/// What keeps the handlers that run on one member's memory apart, whoever runs them. In the
/// member's block of the node's memory; zeroed memory is free.
struct ActiveBlock {
    /// Who runs one that excludes all others: its rank + 1; 0: nobody.
    alignas(64) std::atomic<std::uint32_t> holder{0};
    std::array<ActiveSlot, 8> slots; ///< concurrent ones that this member runs
    /// Bytes that a segment may take at this member: the largest of its buffers. Written by the
    /// member, read by those who run handlers on its memory.
    alignas(64) std::atomic<std::uint64_t> largest_room{0};
};

/// The exclusion of handlers on the memory of members of this node. It is never waited for: who
/// does not get it tries again. What a dead process holds is taken from it. To enter is a
/// full barrier; to leave orders what was done before it, and no more. Any thread, without the
/// engine, once all neighbours are there.
class Exclusion {
public:
    /// What a handler that runs holds.
    struct Hold {
        ActiveBlock* block = nullptr; ///< of the target; null: nothing is held
        ActiveSlot* slot = nullptr;   ///< of a concurrent one
        explicit operator bool() const noexcept { return block != nullptr; }
    };

    void begin(int rank, Members& members) noexcept
    {
        rank_ = rank;
        members_ = &members;
    }
    /// A member of this node, this one included. Throws std::bad_alloc.
    void add_neighbour(int rank, ActiveBlock& block);

    /// `refused`: how often this one was refused before.
    [[nodiscard]] Hold try_enter(int target, bool concurrent, unsigned refused) noexcept;
    static void leave(Hold& hold) noexcept;
    /// Bytes that a segment may take at a member of this node.
    [[nodiscard]] std::uint64_t largest_room(int target) noexcept;

private:
    struct Neighbour {
        int rank;
        ActiveBlock* block;
    };
    [[nodiscard]] ActiveBlock* block_of(int rank) noexcept;
    [[nodiscard]] Hold share(ActiveBlock& block, std::uint32_t number) noexcept;
    [[nodiscard]] bool is_shared(std::uint32_t number, bool look_for_dead) noexcept;
    void take_from_dead(ActiveBlock& block) noexcept;

    int rank_ = 0;
    int first_ = 0; ///< of the neighbours
    Members* members_ = nullptr;
    std::vector<Neighbour> neighbours_;
};

} // namespace sidelight::rma
