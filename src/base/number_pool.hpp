// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <optional>

namespace sidelight {

/// Small numbers from 0 on, each of which one has at a time. Any thread.
class NumberPool {
public:
    static constexpr unsigned most = 64;

    /// `numbers` of them, `most` at most.
    constexpr explicit NumberPool(unsigned numbers) noexcept
        : taken_(numbers < most ? ~std::uint64_t{0} << numbers : 0)
    {}

    /// The lowest that nobody has; none where all are taken. Acquire: what its last owner did
    /// before give_back() comes before what the next one does.
    [[nodiscard]] std::optional<unsigned> take() noexcept
    {
        std::uint64_t seen = taken_.load(std::memory_order_relaxed);
        while (~seen != 0) {
            const std::uint64_t lowest = ~seen & (seen + 1);
            if (taken_.compare_exchange_weak(seen, seen | lowest, std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
                return static_cast<unsigned>(std::countr_zero(lowest));
            }
        }
        return std::nullopt;
    }

    /// By who has it. Release: see take().
    void give_back(unsigned number) noexcept
    {
        taken_.fetch_and(~(std::uint64_t{1} << number), std::memory_order_release);
    }

private:
    std::atomic<std::uint64_t> taken_; ///< a bit for each number; those that there are not, too
};

} // namespace sidelight
