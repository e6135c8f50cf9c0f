// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sidelight::fabric::ucx {

/// The words of the latest short message of a batch, and behind its end those of longer ones before
/// it. A short message has a bit for each.
class FrameWords {
public:
    static constexpr std::size_t most = 32;

    /// At least `count` of them; those that were none before are zero.
    [[nodiscard]] std::uint64_t* first(std::size_t count) noexcept
    {
        if (count > count_) {
            std::fill(words_.begin() + count_, words_.begin() + count, 0);
            count_ = count;
        }
        return words_.data();
    }

    void clear() noexcept { count_ = 0; }

    /// Takes the words of the next message, writes those that differ from the ones here to `place`,
    /// where there is room for all, says in `there` which, and answers where they end.
    std::byte* pack(const std::uint64_t* words, std::size_t count, std::uint32_t& there,
                    std::byte* place) noexcept
    {
        std::uint64_t* latest = first(count);
        there = 0;
        for (std::size_t index = 0; index < count; ++index) {
            const std::uint64_t word = words[index];
            const std::uint32_t differs = word != latest[index] ? 1 : 0;
            latest[index] = word;
            std::memcpy(place, &word, sizeof word);
            place += differs * sizeof word;
            there |= differs << index;
        }
        return place;
    }

private:
    std::array<std::uint64_t, most> words_;
    std::size_t count_ = 0;
};

inline constexpr std::size_t short_bytes = FrameWords::most * sizeof(std::uint64_t);

} // namespace sidelight::fabric::ucx
