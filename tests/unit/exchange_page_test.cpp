// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/exchange_page.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "fabric/sim/random.hpp"

namespace sidelight::unit {
namespace {

using fabric::sim::Random;
using host::node::ExchangePage;

/// Zeroed, on a cache line.
class Memory {
public:
    explicit Memory(std::size_t bytes) : lines_((bytes + sizeof(Line) - 1) / sizeof(Line)) {}
    [[nodiscard]] std::byte* data() noexcept { return lines_.front().bytes; }

private:
    struct alignas(64) Line {
        std::byte bytes[64]{};
    };
    std::vector<Line> lines_;
};

struct Word {
    std::uint64_t value = 0;
};

bool tell(ExchangePage& page, std::uint64_t value)
{
    const Word word{value};
    return page.tell(std::as_bytes(std::span(&word, 1)));
}

std::uint64_t told_by(const ExchangePage& page, std::size_t member)
{
    Word word;
    std::memcpy(&word, page.told_by(member), sizeof word);
    return word.value;
}

/// What all have told, once they have; nothing if one has left before.
std::optional<std::vector<std::uint64_t>> exchange(ExchangePage& page, std::uint64_t value)
{
    tell(page, value);
    while (!page.all_told() && !page.is_abandoned()) {
        std::this_thread::yield();
    }
    if (!page.all_told()) {
        return std::nullopt;
    }
    std::vector<std::uint64_t> all;
    for (std::size_t member = 0; member < page.members(); ++member) {
        all.push_back(told_by(page, member));
    }
    return all;
}

TEST(ExchangePage, TheLastOneToTellKnowsThatItIs)
{
    Memory memory(ExchangePage::bytes(3));
    std::vector<ExchangePage> pages;
    for (std::size_t index = 0; index < 3; ++index) {
        pages.emplace_back(memory.data(), 3, index);
    }
    for (const std::size_t last : {2U, 0U, 1U, 1U}) {
        for (std::size_t index = 0; index < 3; ++index) {
            if (index != last) {
                EXPECT_FALSE(tell(pages[index], index));
                EXPECT_FALSE(pages[index].all_told());
            }
        }
        EXPECT_TRUE(tell(pages[last], last));
        for (const ExchangePage& page : pages) {
            EXPECT_TRUE(page.all_told());
        }
    }
}

/// However far the members' times lie apart, each reads what belongs to its round.
TEST(ExchangePage, EachRoundIsReadAsItWasTold)
{
    constexpr std::size_t members = 4;
    constexpr std::uint64_t rounds = 3000;
    Memory memory(ExchangePage::bytes(members));
    std::atomic<std::uint64_t> wrong{0};
    std::vector<std::thread> threads;
    for (std::size_t index = 0; index < members; ++index) {
        threads.emplace_back([&, index] {
            ExchangePage page(memory.data(), members, index);
            Random random(index + 1);
            for (std::uint64_t round = 1; round <= rounds; ++round) {
                for (std::uint64_t wait = random.below(20); wait > 17; --wait) {
                    std::this_thread::yield();
                }
                const auto all = exchange(page, round * 100 + index);
                for (std::size_t other = 0; other < members; ++other) {
                    wrong += !all || (*all)[other] != round * 100 + other ? 1 : 0;
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(wrong, 0U);
}

/// Rounds in which a member has told are good for all, also after it has left; the next one is for
/// nobody.
TEST(ExchangePage, AllFindOutInTheSameRoundThatAMemberHasLeft)
{
    constexpr std::size_t members = 3;
    for (std::uint64_t last = 0; last < 60; ++last) {
        Memory memory(ExchangePage::bytes(members));
        std::array<std::uint64_t, members> good{};
        std::vector<std::thread> threads;
        for (std::size_t index = 0; index < members; ++index) {
            threads.emplace_back([&, index] {
                ExchangePage page(memory.data(), members, index);
                const bool leaves = index == last % members;
                while ((!leaves || good[index] < last) && exchange(page, index)) {
                    ++good[index];
                }
                if (leaves) {
                    page.leave();
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        for (const std::uint64_t rounds : good) {
            EXPECT_EQ(rounds, last);
        }
    }
}

TEST(ExchangePage, IsAbandonedFromTheEarliestEndOn)
{
    Memory memory(ExchangePage::bytes(3));
    std::vector<ExchangePage> pages;
    for (std::size_t index = 0; index < 3; ++index) {
        pages.emplace_back(memory.data(), 3, index);
        tell(pages[index], index);
    }
    tell(pages[1], 7);
    pages[0].leave(); // after one round
    pages[1].leave(); // after two
    EXPECT_FALSE(pages[2].is_abandoned());
    EXPECT_TRUE(pages[1].is_abandoned());
    EXPECT_FALSE(pages[1].all_told());
    tell(pages[2], 8);
    EXPECT_TRUE(pages[2].is_abandoned());
    EXPECT_FALSE(pages[2].all_told());
}

} // namespace
} // namespace sidelight::unit
