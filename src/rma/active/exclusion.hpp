// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/cpu.hpp"
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
    /// The same for a concurrent one that was never refused, where the first slot is free.
    [[nodiscard, gnu::always_inline]] Hold try_share(int target) noexcept
    {
        const auto guess = static_cast<std::size_t>(target - first_);
        if (guess >= neighbours_.size() || neighbours_[guess].rank != target) [[unlikely]] {
            return try_enter(target, true, 0);
        }
        ActiveBlock& block = *neighbours_[guess].block;
        return share_in(block, own_->slots[0], number_of(target));
    }
    static void leave(Hold& hold) noexcept
    {
        if (hold.slot != nullptr) {
            hold.slot->target.store(0, std::memory_order_release);
        } else if (hold.block != nullptr) {
            hold.block->holder.store(0, std::memory_order_release);
        }
        hold = {};
    }
    /// Bytes that a segment may take at a member of this node.
    [[nodiscard]] std::uint64_t largest_room(int target) noexcept;

private:
    struct Neighbour {
        int rank;
        ActiveBlock* block;
    };
    [[nodiscard]] static constexpr std::uint32_t number_of(int rank) noexcept
    {
        return static_cast<std::uint32_t>(rank) + 1;
    }
    /// A concurrent one says that it is there and then looks for a holder; any other becomes the
    /// holder and then looks for those. All four are sequentially consistent, so one of the two
    /// sees the other and goes away again.
    [[nodiscard, gnu::always_inline]] static Hold share_in(ActiveBlock& block, ActiveSlot& slot,
                                                           std::uint32_t number) noexcept
    {
        std::uint32_t unused = 0;
        if (block.holder.load(std::memory_order_relaxed) != 0) { // who only looks disturbs nobody
            return {};
        }
        if (!slot.target.compare_exchange_strong(unused, number, std::memory_order_seq_cst)) {
            return {};
        }
        if (block.holder.load(std::memory_order_seq_cst) != 0) {
            slot.target.store(0, std::memory_order_release);
            return {};
        }
        end_entering();
        return {.block = &block, .slot = &slot};
    }
    /// A read-modify-write was made that is to order all before it against all after it.
    static void end_entering() noexcept
    {
        if constexpr (!rmw_is_barrier) {
            full_barrier();
        }
    }
    [[nodiscard]] ActiveBlock* block_of(int rank) noexcept;
    [[nodiscard]] Hold share(ActiveBlock& block, std::uint32_t number) noexcept;
    [[nodiscard]] bool is_shared(std::uint32_t number, bool look_for_dead) noexcept;
    void take_from_dead(ActiveBlock& block) noexcept;

    int rank_ = 0;
    int first_ = 0; ///< of the neighbours
    Members* members_ = nullptr;
    ActiveBlock* own_ = nullptr;
    std::vector<Neighbour> neighbours_;
};

} // namespace sidelight::rma
