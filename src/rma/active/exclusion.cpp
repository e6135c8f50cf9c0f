// SPDX-License-Identifier: BSD-3-Clause
#include "rma/active/exclusion.hpp"

#include "rma/active/rules.hpp"

namespace sidelight::rma {

namespace {

/// Who is refused so often looks whether whoever is in its way still lives.
constexpr unsigned refusals_per_look = 64;

} // namespace

void Exclusion::add_neighbour(int rank, ActiveBlock& block)
{
    first_ = neighbours_.empty() ? rank : first_;
    own_ = rank == rank_ ? &block : own_;
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

/// Where all slots are in use it is refused, too.
Exclusion::Hold Exclusion::share(ActiveBlock& block, std::uint32_t number) noexcept
{
    for (ActiveSlot& slot : own_->slots) {
        if (Hold hold = share_in(block, slot, number); hold) {
            return hold;
        }
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
            if (!look_for_dead || neighbour.rank == rank_ ||
                !rules::exclusion_is_taken(members_->has_ended(neighbour.rank))) {
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
    if (held != 0 && rank != rank_ && rules::exclusion_is_taken(members_->has_ended(rank))) {
        block.holder.compare_exchange_strong(held, 0, std::memory_order_seq_cst);
    }
}

std::uint64_t Exclusion::largest_room(int target) noexcept
{
    const ActiveBlock* block = block_of(target);
    return block != nullptr ? block->largest_room.load(std::memory_order_acquire) : 0;
}

} // namespace sidelight::rma
