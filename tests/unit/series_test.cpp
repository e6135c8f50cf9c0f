// SPDX-License-Identifier: BSD-3-Clause
#include "rma/channel/series.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace sidelight::rma {
namespace {

/// Only what has come together with all before it counts.
TEST(Series, IsWholeUpToTheFirstThatIsMissing)
{
    Series series;
    EXPECT_EQ(series.whole(), 0U);
    series.take(2);
    series.take(4);
    EXPECT_EQ(series.whole(), 0U);
    series.take(1);
    EXPECT_EQ(series.whole(), 2U);
    series.take(3);
    EXPECT_EQ(series.whole(), 4U);
}

TEST(Series, TakesAnyOrderWithinItsSpan)
{
    std::mt19937 random(1);
    Series series;
    for (std::uint32_t first = 1; first < 100 * Series::span; first += Series::span) {
        std::vector<std::uint32_t> numbers(Series::span);
        for (std::uint32_t i = 0; i < Series::span; ++i) {
            numbers[i] = first + i;
        }
        std::shuffle(numbers.begin(), numbers.end(), random);
        for (const std::uint32_t number : numbers) {
            EXPECT_LT(series.whole(), number);
            series.take(number);
        }
        EXPECT_EQ(series.whole(), first + Series::span - 1);
    }
}

TEST(Series, IgnoresWhatCannotBe)
{
    Series series;
    for (const std::uint32_t number : {0U, Series::span + 1, 0xffff'ffffU}) {
        series.take(number);
    }
    series.take(1);
    series.take(1);
    EXPECT_EQ(series.whole(), 1U);
    series.take(Series::span + 1); // within its span now
    for (std::uint32_t number = 2; number <= Series::span; ++number) {
        series.take(number);
    }
    EXPECT_EQ(series.whole(), Series::span + 1);
}

} // namespace
} // namespace sidelight::rma
