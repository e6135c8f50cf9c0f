// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>

namespace sidelight::rma {

/// Which of a series of messages, numbered from 1, have come: they may overtake one another, by
/// less than `span`. All zero: none. Numbers wrap around.
class Series {
public:
    static constexpr std::uint32_t span = 64;

    /// That one has come. What cannot be, or was there, changes nothing.
    void take(std::uint32_t number) noexcept
    {
        const std::uint32_t ahead = number - whole_ - 1;
        if (ahead >= span) {
            return;
        }
        later_ |= std::uint64_t{1} << ahead;
        const int more = std::countr_one(later_);
        whole_ += static_cast<std::uint32_t>(more);
        later_ = more == static_cast<int>(span) ? 0 : later_ >> more;
    }

    /// How many have not come of `count` that follow one another and end with `last`.
    [[nodiscard]] std::uint32_t missing(std::uint32_t last, std::uint32_t count) const noexcept
    {
        std::uint32_t missing = 0;
        for (std::uint32_t number = last; count != 0 && !is_whole(number); --number, --count) {
            const std::uint32_t ahead = number - whole_ - 1;
            missing += ahead >= span || (later_ >> ahead & 1) == 0 ? 1 : 0;
        }
        return missing;
    }

    /// All up to that one have.
    [[nodiscard]] std::uint32_t whole() const noexcept { return whole_; }

private:
    [[nodiscard]] bool is_whole(std::uint32_t number) const noexcept
    {
        return static_cast<std::int32_t>(whole_ - number) >= 0;
    }

    std::uint32_t whole_ = 0;
    std::uint64_t later_ = 0; ///< bit k: whole_ + 1 + k has come
};

} // namespace sidelight::rma
