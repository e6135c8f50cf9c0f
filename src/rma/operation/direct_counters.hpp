// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "rma/operation/mapped.hpp"
#include "rma/operation/notification_block.hpp"

namespace sidelight::rma {

/// The counters of one member on this node, and how often this process has raised those that it
/// keeps.
struct OpenCounters {
    static constexpr std::uint64_t not_kept = ~std::uint64_t{0};

    NotificationBlock* block = nullptr;
    /// For each counter 0: not asked for yet; not_kept; or how often, and 1. Null: keeps none.
    std::unique_ptr<std::uint64_t[]> times;
};

/// The counters of notifications that operations on mapped memory raise by themselves: beside
/// Mapped, and as there without the engine.
class DirectCounters {
public:
    explicit DirectCounters(int rank) noexcept : rank_(rank) {}

    /// The counters of a member, if an operation there may raise the one with that number and be
    /// complete within its call. Null: go the long way.
    [[nodiscard, gnu::always_inline]] OpenCounters* find(const Mapped& mapped, int rank,
                                                         std::uint32_t index) const noexcept
    {
        std::atomic<OpenCounters*>* open = open_.load(std::memory_order_acquire);
        if (open == nullptr || !mapped.flush_local(rank) || targets_[rank].bell == nullptr) {
            return nullptr;
        }
        OpenCounters* counters = open[rank].load(std::memory_order_acquire);
        return counters != nullptr && index < counters->block->number() ? counters : nullptr;
    }
    /// One that was found, behind its operation.
    [[gnu::always_inline]] void raise(int rank, OpenCounters& counters,
                                      std::uint32_t index) const noexcept
    {
        if (alone_ && counters.times != nullptr ? keep(counters, index)
                                                : counters.block->raise(index)) [[unlikely]] {
            targets_[rank].bell->ring();
        }
    }

    /// By rank, those that can be raised from here. Needs the engine. Both outlive this.
    void show(const Target* targets, std::atomic<OpenCounters*>* open) noexcept
    {
        targets_ = targets;
        open_.store(open, std::memory_order_release);
    }
    /// Several threads of the program may call at the same time, or not. No call may be going on.
    void expect_threads(bool many) noexcept { alone_ = !many; }

private:
    [[nodiscard, gnu::always_inline]] bool keep(OpenCounters& counters,
                                                std::uint32_t index) const noexcept
    {
        std::uint64_t& times = counters.times[index];
        if (times == 0) [[unlikely]] {
            times = counters.block->make_keeper(index, rank_) ? 1 : OpenCounters::not_kept;
        }
        return times != OpenCounters::not_kept ? counters.block->keep(index, times++)
                                               : counters.block->raise(index);
    }

    const Target* targets_ = nullptr;                        ///< written before `open_`
    std::atomic<std::atomic<OpenCounters*>*> open_{nullptr}; ///< null: none yet
    int rank_;                                               ///< of this process
    bool alone_ = true;                                      ///< no other thread calls
};

} // namespace sidelight::rma
