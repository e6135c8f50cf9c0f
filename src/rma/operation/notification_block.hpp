// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rma/notice_rules.hpp"

namespace sidelight::rma {

/// One counter of notifications. Who raises it finds what its owner waits for in the same line of
/// the cache.
struct NotificationCounter {
    std::atomic<std::uint64_t> value{0};
    /// What its owner waits for first; 0: nothing. Written by the owner, who looks at `value` after
    /// that, while others look here after they have raised it: one of the two sees the other.
    std::atomic<std::uint64_t> lowest{0};
};

/// The counters of one member, in zeroed memory that the members on its node share: this header,
/// and the counters behind it. A counter is raised after the data of the operation that it counts
/// are there, by whoever has put them there.
class NotificationBlock {
public:
    /// So many have a line of the cache each, so that who raises one does not disturb the others.
    static constexpr std::uint32_t few = 1024;
    static constexpr std::uint32_t most = std::uint32_t{1} << 20;
    static constexpr std::uint32_t groups = 64;

    [[nodiscard]] static constexpr std::size_t bytes(std::uint32_t number) noexcept
    {
        return sizeof(NotificationBlock) + std::size_t{number} * stride(number);
    }
    /// The owner, before others know of it: 1 to `most`.
    void set_number(std::uint32_t number) noexcept
    {
        number_ = number;
        stride_ = stride(number);
    }
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }

    [[nodiscard]] NotificationCounter& counter(std::uint32_t index) noexcept
    {
        std::byte* first = reinterpret_cast<std::byte*>(this) + sizeof *this;
        return *reinterpret_cast<NotificationCounter*>(first + std::size_t{index} * stride_);
    }

    /// Behind the loads and stores that it stands for. Answers whether the owner waits for it, and
    /// so is to be woken.
    [[nodiscard, gnu::always_inline]] bool raise(std::uint32_t index) noexcept
    {
        NotificationCounter& raised = counter(index);
        const std::uint64_t value = raised.value.fetch_add(1, std::memory_order_seq_cst) + 1;
        const bool awaited =
            rules::notification_wakes(value, raised.lowest.load(std::memory_order_seq_cst));
        if (awaited) [[unlikely]] {
            mark(index);
        }
        return awaited;
    }

    /// Lets the owner look at a counter.
    void mark(std::uint32_t index) noexcept
    {
        const std::uint64_t bit = std::uint64_t{1} << group(index);
        if ((reached_.load(std::memory_order_seq_cst) & bit) == 0) {
            reached_.fetch_or(bit, std::memory_order_seq_cst);
        }
    }
    /// The groups in which a counter was marked since the last time, a bit for each. The owner.
    [[nodiscard]] std::uint64_t take_marked() noexcept
    {
        return reached_.load(std::memory_order_relaxed) != 0
                   ? reached_.exchange(0, std::memory_order_seq_cst)
                   : 0;
    }
    /// Counters next to one another make a group. The first of one, which for `groups` is the end.
    [[nodiscard]] std::uint32_t first_of(std::uint32_t group) const noexcept
    {
        return static_cast<std::uint32_t>((std::uint64_t{group} * number_ + groups - 1) / groups);
    }

private:
    static constexpr std::uint32_t stride(std::uint32_t number) noexcept
    {
        return number <= few ? 64 : sizeof(NotificationCounter);
    }
    [[nodiscard]] std::uint32_t group(std::uint32_t index) const noexcept
    {
        return static_cast<std::uint32_t>(std::uint64_t{index} * groups / number_);
    }

    std::uint32_t number_ = 0;
    std::uint32_t stride_ = 0;                          ///< bytes from one to the next
    alignas(64) std::atomic<std::uint64_t> reached_{0}; ///< groups with a counter to be looked at
};

} // namespace sidelight::rma
