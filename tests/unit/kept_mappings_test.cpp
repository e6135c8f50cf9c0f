// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/kept_mappings.hpp"

#include <gtest/gtest.h>

namespace sidelight::unit {
namespace {

using host::node::KeptMappings;

constexpr std::size_t page = 4096;

FileRange range(std::uint64_t number, std::uint64_t bytes = page)
{
    return {
        .file = {.owner = 1, .descriptor = 3, .inode = 5}, .offset = number * page, .bytes = bytes};
}

TEST(KeptMappings, ComeBackForExactlyTheSameBytes)
{
    KeptMappings kept;
    Mapping mapping = Mapping::anonymous(page);
    const std::byte* const there = mapping.data();
    kept.put(range(1), std::move(mapping));
    EXPECT_FALSE(kept.take(range(2)));
    EXPECT_FALSE(kept.take(range(1, page / 2)));
    FileRange of_another = range(1);
    of_another.file.owner = 2;
    EXPECT_FALSE(kept.take(of_another));
    EXPECT_EQ(kept.take(range(1)).data(), there);
    EXPECT_FALSE(kept.take(range(1))); // once
}

/// Two windows at a time that were brought the same.
TEST(KeptMappings, MayBeSeveralOfTheSame)
{
    KeptMappings kept;
    kept.put(range(1), Mapping::anonymous(page));
    kept.put(range(1), Mapping::anonymous(page));
    const Mapping first = kept.take(range(1));
    const Mapping second = kept.take(range(1));
    EXPECT_TRUE(first && second);
    EXPECT_NE(first.data(), second.data());
}

TEST(KeptMappings, AreNotTooMany)
{
    KeptMappings kept;
    for (std::uint64_t number = 0; number < KeptMappings::most + 2; ++number) {
        kept.put(range(number), Mapping::anonymous(page));
    }
    EXPECT_FALSE(kept.take(range(1)));
    EXPECT_TRUE(kept.take(range(2)));
    EXPECT_TRUE(kept.take(range(KeptMappings::most + 1)));
}

TEST(KeptMappings, AreNotTooLarge)
{
    constexpr std::size_t quarter = KeptMappings::most_bytes / 4;
    KeptMappings kept;
    kept.put(range(0), Mapping::anonymous(KeptMappings::most_bytes + page));
    EXPECT_FALSE(kept.take(range(0)));
    for (std::uint64_t number = 1; number <= 5; ++number) {
        kept.put(range(number), Mapping::anonymous(quarter));
    }
    EXPECT_FALSE(kept.take(range(1)));
    EXPECT_TRUE(kept.take(range(2)));
    EXPECT_TRUE(kept.take(range(5)));
}

} // namespace
} // namespace sidelight::unit
