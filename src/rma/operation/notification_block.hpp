// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cpu.hpp"
#include "rma/notice_rules.hpp"

namespace sidelight::rma {

/// One counter of notifications, in a line of the cache of its own. Its *sum* only grows; its value
/// is what the sum is above `base`. Who raises it adds to the sum, and then looks at `lowest`; its
/// owner writes `lowest` and then looks at the sum: one of the two sees the other.
struct alignas(64) NotificationCounter {
    std::atomic<std::uint64_t> raised{0}; ///< by whoever
    std::atomic<std::uint64_t> kept{0}; ///< by its keeper, who alone writes it, with a plain store
    std::atomic<std::uint64_t> lowest{0}; ///< sum that its owner waits for first; 0: for none
    std::atomic<std::uint64_t> base{0};   ///< sum at the last reset; the owner's
    std::atomic<std::uint32_t> keeper{0}; ///< rank + 1; 0: nobody has asked to be it

    /// Acquires what is counted.
    [[nodiscard]] std::uint64_t sum() const noexcept
    {
        return raised.load(std::memory_order_seq_cst) + kept.load(std::memory_order_seq_cst);
    }
    [[nodiscard]] std::uint64_t value() const noexcept
    {
        const std::uint64_t before = base.load(std::memory_order_acquire); // never above the sum
        return sum() - before;
    }
};

/// The counters of one member, in zeroed memory that the members on its node share: this header,
/// and the counters behind it. A counter is raised after the data of the operation that it counts
/// are there, by whoever has put them there. Those who raise it answer whether its owner waits for
/// that, and so is to be woken.
class NotificationBlock {
public:
    static constexpr std::uint32_t few = 1024; ///< with so many at most, counters have keepers
    static constexpr std::uint32_t most = std::uint32_t{1} << 20;
    static constexpr std::uint32_t groups = 64;

    [[nodiscard]] static constexpr std::size_t bytes(std::uint32_t number) noexcept
    {
        return sizeof(NotificationBlock) + number * sizeof(NotificationCounter);
    }
    /// The owner, before others know of it: 1 to `most`.
    void set_number(std::uint32_t number) noexcept { number_ = number; }
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }

    [[nodiscard]] NotificationCounter& counter(std::uint32_t index) noexcept
    {
        return reinterpret_cast<NotificationCounter*>(this + 1)[index];
    }

    [[nodiscard, gnu::always_inline]] bool raise(std::uint32_t index) noexcept
    {
        NotificationCounter& raised = counter(index);
        raised.raised.fetch_add(1, std::memory_order_seq_cst);
        return is_awaited(raised, index);
    }

    /// The first member who asks for it is the keeper of a counter, for good: the only one to whom
    /// this has answered true, and of whose threads one alone uses it. Others need the line to
    /// raise the counter; the keeper's store leaves by itself.
    [[nodiscard]] bool make_keeper(std::uint32_t index, int rank) noexcept
    {
        std::uint32_t nobody = 0;
        return counter(index).keeper.compare_exchange_strong(
            nobody, static_cast<std::uint32_t>(rank) + 1, std::memory_order_relaxed);
    }
    /// The keeper has raised it that often.
    [[nodiscard, gnu::always_inline]] bool keep(std::uint32_t index, std::uint64_t times) noexcept
    {
        NotificationCounter& raised = counter(index);
        raised.kept.store(times, std::memory_order_release);
        full_barrier();
        return is_awaited(raised, index);
    }

    /// Lets the owner look at a counter.
    void mark(std::uint32_t index) noexcept
    {
        const std::uint64_t bit = std::uint64_t{1} << group(index);
        if ((marked_.load(std::memory_order_seq_cst) & bit) == 0) {
            marked_.fetch_or(bit, std::memory_order_seq_cst);
        }
    }
    /// The groups in which a counter was marked since the last time, a bit for each. The owner.
    [[nodiscard]] std::uint64_t take_marked() noexcept
    {
        return marked_.load(std::memory_order_relaxed) != 0
                   ? marked_.exchange(0, std::memory_order_seq_cst)
                   : 0;
    }
    /// Counters next to one another make a group. The first of one, which for `groups` is the end.
    [[nodiscard]] std::uint32_t first_of(std::uint32_t group) const noexcept
    {
        return static_cast<std::uint32_t>((std::uint64_t{group} * number_ + groups - 1) / groups);
    }

private:
    [[nodiscard]] std::uint32_t group(std::uint32_t index) const noexcept
    {
        return static_cast<std::uint32_t>(std::uint64_t{index} * groups / number_);
    }
    [[nodiscard, gnu::always_inline]] bool is_awaited(const NotificationCounter& raised,
                                                      std::uint32_t index) noexcept
    {
        const std::uint64_t lowest = raised.lowest.load(std::memory_order_seq_cst);
        const bool awaited = lowest != 0 && rules::notification_wakes(raised.sum(), lowest);
        if (awaited) [[unlikely]] {
            mark(index);
        }
        return awaited;
    }

    std::uint32_t number_ = 0;
    alignas(64) std::atomic<std::uint64_t> marked_{0}; ///< groups with a counter to be looked at
};

} // namespace sidelight::rma
