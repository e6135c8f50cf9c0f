// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sidelight::fabric::sim {

/// A small generator of pseudo-random numbers (SplitMix64, Steele et al. 2014): the same seed gives
/// the same numbers with every compiler and library, which those of <random> do not promise.
class Random {
public:
    explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

    std::uint64_t next() noexcept
    {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }

    /// 0 .. limit-1; 0 if the limit is 0.
    std::uint64_t below(std::uint64_t limit) noexcept { return limit < 2 ? 0 : next() % limit; }

    /// first .. last, both included.
    int between(int first, int last) noexcept
    {
        return first + static_cast<int>(below(static_cast<std::uint64_t>(last - first) + 1));
    }

    /// True in `percent` of 100 cases.
    bool chance(unsigned percent) noexcept { return below(100) < percent; }

    template <class T>
    void shuffle(std::vector<T>& values) noexcept
    {
        for (std::size_t left = values.size(); left > 1; --left) {
            std::swap(values[left - 1], values[below(left)]);
        }
    }

private:
    std::uint64_t state_;
};

} // namespace sidelight::fabric::sim
