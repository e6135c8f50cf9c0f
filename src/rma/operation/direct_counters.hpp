// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/operation/mapped.hpp"
#include "rma/operation/notification_block.hpp"

namespace sidelight::rma {

/// The counters of notifications that operations on mapped memory raise by themselves: beside
/// Mapped, and as there without the engine.
class DirectCounters {
public:
    /// The counters of a member, if an operation there may raise the one with that number and be
    /// complete within its call. Null: go the long way.
    [[nodiscard, gnu::always_inline]] NotificationBlock* find(const Mapped& mapped, int rank,
                                                              std::uint32_t index) const noexcept
    {
        std::atomic<NotificationBlock*>* blocks = blocks_.load(std::memory_order_acquire);
        if (blocks == nullptr || !mapped.flush_local(rank) || targets_[rank].bell == nullptr) {
            return nullptr;
        }
        NotificationBlock* block = blocks[rank].load(std::memory_order_acquire);
        if (block == nullptr || index >= block->number()) {
            return nullptr;
        }
        __builtin_prefetch(&block->counter(index), 1); // while the data are on their way
        return block;
    }
    /// One that was found, behind its operation.
    [[gnu::always_inline]] void raise(int rank, NotificationBlock& counters,
                                      std::uint32_t index) const noexcept
    {
        if (counters.raise(index)) [[unlikely]] {
            targets_[rank].bell->ring();
        }
    }

    /// By rank, those that can be raised from here. Needs the engine. Both outlive this.
    void show(const Target* targets, std::atomic<NotificationBlock*>* blocks) noexcept
    {
        targets_ = targets;
        blocks_.store(blocks, std::memory_order_release);
    }

private:
    const Target* targets_ = nullptr;                               ///< written before `blocks_`
    std::atomic<std::atomic<NotificationBlock*>*> blocks_{nullptr}; ///< null: none yet
};

} // namespace sidelight::rma
