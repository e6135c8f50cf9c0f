// SPDX-License-Identifier: BSD-3-Clause
#include "rma/active/exclusion.hpp"

#include "base/cpu.hpp"

namespace sidelight::rma {

namespace {

/// Who is refused so often looks whether whoever is in its way still lives.
constexpr unsigned refusals_per_look = 64;

/// A read-modify-write was made that is to order all before it against all after it.
void end_entering() noexcept
{
    if constexpr (!rmw_is_barrier) {
        full_barrier();
    }
}

constexpr std::uint32_t number_of(int rank) noexcept
{
    return static_cast<std::uint32_t>(rank) + 1;
}

} // namespace

void Exclusion::add_neighbour(int rank, ActiveBlock& block)
{
    first_ = neighbours_.empty() ? rank : first_;
    neighbours_.push_back({rank, &block});
}

ActiveBlock* Exclusion::block_of(int rank) noexcept
{
    // The ranks of a node are mostly one behind the other.
    const auto guess = static_cast<std::size_t>(rank - first_);
    if (guess < neighbours_.size() && neighbours_[guess].rank == rank) {
        return neighbours_[guess].block;
    }
    for (const Neighbour& neighbour : neighbours_) {
        if (neighbour.rank == rank) {
            return neighbour.block;
        }
    }
    return nullptr;
}

/// A concurrent one says that it is there and then looks for a holder; any other becomes the holder
/// and then looks for those. All four are sequentially consistent, so one of the two sees the other
/// and goes away again.
Exclusion::Hold Exclusion::try_enter(int target, bool concurrent, unsigned refused) noexcept
{
    ActiveBlock* block = block_of(target);
    if (block == nullptr) {
        return {};
    }
    const bool look = refused % refusals_per_look == refusals_per_look - 1;
    if (look) {
        take_from_dead(*block);
    }
    if (concurrent) {
        return share(*block, number_of(target));
    }
    std::uint32_t nobody = 0;
    if (!block->holder.compare_exchange_strong(nobody, number_of(rank_),
                                               std::memory_order_seq_cst)) {
        return {};
    }
    if (is_shared(number_of(target), look)) {
        block->holder.store(0, std::memory_order_release);
        return {};
    }
    end_entering();
    return {.block = block};
}

Exclusion::Hold Exclusion::share(ActiveBlock& block, std::uint32_t number) noexcept
{
    if (block.holder.load(std::memory_order_relaxed) != 0) {
        return {};
    }
    ActiveBlock* own = block_of(rank_);
    for (ActiveSlot& slot : own->slots) {
        std::uint32_t unused = 0;
        if (!slot.target.compare_exchange_strong(unused, number, std::memory_order_seq_cst)) {
            continue;
        }
        if (block.holder.load(std::memory_order_seq_cst) == 0) {
            end_entering();
            return {.block = &block, .slot = &slot};
        }
        slot.target.store(0, std::memory_order_release);
        return {};
    }
    return {};
}

/// Acquires what those did who have left.
bool Exclusion::is_shared(std::uint32_t number, bool look_for_dead) noexcept
{
    for (const Neighbour& neighbour : neighbours_) {
        for (ActiveSlot& slot : neighbour.block->slots) {
            if (slot.target.load(std::memory_order_seq_cst) != number) {
                continue;
            }
            if (!look_for_dead || neighbour.rank == rank_ || !members_->has_ended(neighbour.rank)) {
                return true;
            }
            slot.target.store(0, std::memory_order_relaxed);
        }
    }
    return false;
}

/// Who is dead takes nothing any more, so what another has taken meanwhile stays its own.
void Exclusion::take_from_dead(ActiveBlock& block) noexcept
{
    std::uint32_t held = block.holder.load(std::memory_order_acquire);
    const int rank = static_cast<int>(held) - 1;
    if (held != 0 && rank != rank_ && members_->has_ended(rank)) {
        block.holder.compare_exchange_strong(held, 0, std::memory_order_seq_cst);
    }
}

std::uint64_t Exclusion::largest_room(int target) noexcept
{
    const ActiveBlock* block = block_of(target);
    return block != nullptr ? block->largest_room.load(std::memory_order_acquire) : 0;
}

void Exclusion::leave(Hold& hold) noexcept
{
    if (hold.slot != nullptr) {
        hold.slot->target.store(0, std::memory_order_release);
    } else if (hold.block != nullptr) {
        hold.block->holder.store(0, std::memory_order_release);
    }
    hold = {};
}

} // namespace sidelight::rma
