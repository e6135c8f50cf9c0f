// SPDX-License-Identifier: BSD-3-Clause
#include "rma/accumulate/atomicity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "datatype/basic_layout.hpp"
#include "rma/accumulate/transfer.hpp"
#include "unit/reference.hpp"

namespace sidelight::unit {
namespace {

using datatype::Basic;
using datatype::basic_layout;
using datatype::Buffer;
using datatype::shape_of;
using fabric::sim::Random;
using rma::AtomicityLocks;
using rma::Kind;
using rma::ReduceOp;

constexpr std::size_t threads = 3;

template <typename Body>
void together(Body body)
{
    std::atomic<std::size_t> ready{0};
    std::vector<std::thread> running;
    for (std::size_t number = 0; number < threads; ++number) {
        running.emplace_back([&, number] {
            ready.fetch_add(1);
            while (ready.load() < threads) {
                std::this_thread::yield();
            }
            body(number);
        });
    }
    for (std::thread& thread : running) {
        thread.join();
    }
}

TEST(AtomicityLocks, OneThreadAtATimeAndStripesApart)
{
    const auto locks = std::make_unique<AtomicityLocks>();
    alignas(4096) static std::array<std::byte, 8192> page{};
    std::array<std::uint64_t, 2> counters{}; // guarded by the stripes of two addresses
    together([&](std::size_t number) {
        for (std::size_t i = 0; i < 20'000; ++i) {
            const std::size_t which = (number + i) % 2;
            // Through any mapping: only the place within the page counts.
            const rma::AtomicityGuard guard(*locks, &page[64 * which + 4096 * (i % 2)]);
            ++counters[which];
        }
    });
    EXPECT_EQ(counters[0] + counters[1], threads * 20'000);
    locks->acquire(&page[0]);
    locks->acquire(&page[64]); // would wait for ever if it were the same stripe
    locks->release(&page[64]);
    locks->release(&page[0]);
}

constexpr std::size_t steps = 600; // sums stay below 2048, where _Float16 is exact
constexpr std::size_t wide = 32;
using Element = std::array<std::byte, wide>;

/// Values of which any sequence of operations has the same outcome in any order, exactly.
Value draw_value(Random& random, ReduceOp op, Kind kind)
{
    Value value{random.between(-100, 100), static_cast<long double>(random.between(-1, 1)), 0};
    const bool units = op == ReduceOp::prod;
    if (kind == Kind::complex) {
        const bool turned = random.chance(50);
        const long double sign = random.chance(50) ? 1 : -1;
        return {0, turned ? 0 : sign, turned ? sign : 0};
    }
    if (units && kind == Kind::real) {
        value.real = random.chance(50) ? 1 : -1;
    }
    if (units && kind == Kind::integer) {
        value.integer |= 1; // odd, so that the product does not become 0
    }
    if (kind == Kind::logical) {
        value.integer = random.between(0, 2);
    }
    if (kind == Kind::pair) {
        value.other = random.between(0, 1000);
    }
    return value;
}

std::vector<Element> draw_values(std::size_t number, ReduceOp op, Basic basic)
{
    Random random(number * 1000 + static_cast<std::uint64_t>(basic));
    std::vector<Element> values(steps);
    for (Element& value : values) {
        encode(basic, draw_value(random, op, kind_of(basic)), value.data());
    }
    return values;
}

/// One of several representations of a value: no padding, no zero with a sign.
void normalise(Basic basic, std::byte* memory)
{
    Value value = decode(basic, memory);
    value.real += 0;
    value.other += 0;
    encode(basic, value, memory);
    clear_padding(basic, memory);
}

void expect_same_outcome(ReduceOp op, Basic basic, std::size_t shift, AtomicityLocks& locks)
{
    alignas(64) std::array<std::byte, 128> memory{};
    memory.fill(std::byte{0x77});
    std::byte* target = memory.data() + shift;
    encode(basic, {1, 1, 0}, target);
    std::array<std::byte, 128> expected = memory;
    for (std::size_t number = 0; number < threads; ++number) {
        for (const Element& value : draw_values(number, op, basic)) {
            combine_reference(op, basic, expected.data() + shift, value.data());
        }
    }
    together([&](std::size_t number) {
        std::vector<Element> values = draw_values(number, op, basic);
        for (std::size_t i = 0; i < steps; ++i) {
            Element old{};
            const Buffer origin{values[i].data(), &basic_layout(basic), 1};
            const Buffer to{target, &basic_layout(basic), 1};
            const Buffer result{old.data(), &basic_layout(basic), 1};
            const Status status = i % 2 == 0 ? rma::accumulate(op, origin, to, locks)
                                             : rma::get_accumulate(op, origin, result, to, locks);
            EXPECT_EQ(status, Status::ok);
        }
    });
    normalise(basic, target);
    normalise(basic, expected.data() + shift);
    EXPECT_EQ(memory, expected);
}

bool any_order(ReduceOp op) noexcept { return op != ReduceOp::replace && op != ReduceOp::no_op; }

void expect_every_combination(std::size_t shift)
{
    const auto locks = std::make_unique<AtomicityLocks>();
    for (std::size_t op = 0; op < static_cast<std::size_t>(ReduceOp::count_); ++op) {
        for (std::size_t basic = 1; basic < datatype::basic_count; ++basic) {
            SCOPED_TRACE("operation " + std::to_string(op) + ", type " + std::to_string(basic));
            const auto reduce = static_cast<ReduceOp>(op);
            if (any_order(reduce) && is_allowed(reduce, static_cast<Basic>(basic))) {
                expect_same_outcome(reduce, static_cast<Basic>(basic), shift, *locks);
            }
        }
    }
}

TEST(Atomicity, NoUpdateIsLostOnAlignedElements) { expect_every_combination(0); }

TEST(Atomicity, NoUpdateIsLostOnMisalignedElements) { expect_every_combination(61); }

/// Rows, whose elements may go several at once, against single elements.
TEST(Atomicity, NoUpdateOfARowIsLost)
{
    constexpr std::size_t length = 21;
    constexpr int rounds = 30'000;
    const auto locks = std::make_unique<AtomicityLocks>();
    const datatype::Layout& layout = basic_layout(Basic::i8);
    alignas(64) std::array<std::int8_t, 64> memory{};
    const std::array<std::int8_t, length> ones = [] {
        std::array<std::int8_t, length> all{};
        all.fill(1);
        return all;
    }();
    together([&](std::size_t number) {
        for (int i = 0; i < rounds; ++i) {
            const std::size_t single = static_cast<std::size_t>(i) % length;
            const Buffer origin{const_cast<std::int8_t*>(ones.data()), &layout,
                                number == 0 ? 1 : length};
            const Buffer target{&memory[3 + (number == 0 ? single : 0)], &layout, origin.count};
            static_cast<void>(rma::accumulate(ReduceOp::sum, origin, target, *locks));
        }
    });
    for (std::size_t i = 0; i < length; ++i) {
        const std::size_t singles = (rounds - i + length - 1) / length;
        EXPECT_EQ(memory[3 + i], static_cast<std::int8_t>((threads - 1) * rounds + singles)) << i;
    }
}

/// A structure accumulated as bytes is one of those that were written, wherever it lies.
TEST(Atomicity, ShortRowsAreWhole)
{
    const auto locks = std::make_unique<AtomicityLocks>();
    const datatype::Layout& bytes = basic_layout(Basic::byte);
    for (const std::size_t length : {std::size_t{2}, std::size_t{16}, std::size_t{64}}) {
        alignas(64) std::array<std::byte, 128> memory{};
        std::atomic<int> torn{0};
        together([&](std::size_t number) {
            std::array<std::byte, 64> mine{};
            std::array<std::byte, 64> seen{};
            mine.fill(static_cast<std::byte>(number + 1));
            for (int i = 0; i < 20'000; ++i) {
                const Buffer origin{mine.data(), &bytes, length};
                const Buffer result{seen.data(), &bytes, length};
                const Buffer target{memory.data() + 8, &bytes, length};
                const ReduceOp op = i % 2 == 0 ? ReduceOp::replace : ReduceOp::no_op;
                static_cast<void>(rma::get_accumulate(op, origin, result, target, *locks));
                torn += std::count(seen.begin(), seen.begin() + length, seen[0]) !=
                        static_cast<std::ptrdiff_t>(length);
            }
        });
        EXPECT_EQ(torn, 0) << length << " bytes";
    }
}

struct Chained {
    Basic basic;
    std::size_t shift;
};

class AtomicityOf : public testing::TestWithParam<Chained> {};

class AtomicityOfSums : public testing::TestWithParam<Chained> {};

/// Every element that replaces another finds the one before it: nothing is seen twice or lost.
TEST_P(AtomicityOf, ReplaceHandsEachValueOnOnce)
{
    const auto& [type, shift] = GetParam();
    const Basic basic = type; // Clang 14 captures no structured bindings
    const auto locks = std::make_unique<AtomicityLocks>();
    alignas(64) std::array<std::byte, 128> memory{};
    std::byte* target = memory.data() + shift;
    const rma::Int128 high = basic == Basic::i128 ? rma::Int128{1} << 80 : 0;
    constexpr std::size_t rounds = 2000;
    std::array<std::vector<Value>, threads> seen;
    encode(basic, {}, target);
    together([&](std::size_t number) {
        for (std::size_t i = 0; i < rounds; ++i) {
            Element origin{};
            Element old{};
            const auto tag = static_cast<std::int32_t>(1 + number * rounds + i);
            encode(basic,
                   {tag * (high + 1), static_cast<long double>(tag), static_cast<long double>(tag)},
                   origin.data());
            static_cast<void>(rma::get_accumulate(
                ReduceOp::replace, {origin.data(), &basic_layout(basic), 1},
                {old.data(), &basic_layout(basic), 1}, {target, &basic_layout(basic), 1}, *locks));
            seen[number].push_back(decode(basic, old.data()));
        }
    });
    std::vector<bool> found(threads * rounds + 1);
    seen[0].push_back(decode(basic, target));
    for (const std::vector<Value>& values : seen) {
        for (const Value& value : values) {
            const bool integer = value.integer != 0;
            const auto tag = static_cast<std::size_t>(
                integer ? static_cast<long double>(value.integer % (rma::Int128{1} << 32))
                        : value.real);
            ASSERT_LT(tag, found.size()); // a larger one was torn
            if (kind_of(basic) == Kind::pair) {
                ASSERT_EQ(value.other, static_cast<long double>(tag));
            }
            ASSERT_FALSE(found[tag]);
            found[tag] = true;
        }
    }
    EXPECT_EQ(std::count(found.begin(), found.end(), false), 0);
}

void add_one(const Chained& chosen, std::byte* target, AtomicityLocks& locks)
{
    const datatype::Layout& layout = basic_layout(chosen.basic);
    Element one{};
    encode(chosen.basic, {1, 1, 0}, one.data());
    static_cast<void>(
        rma::accumulate(ReduceOp::sum, {one.data(), &layout, 1}, {target, &layout, 1}, locks));
}

void swap_for_one_more(const Chained& chosen, std::byte* target, AtomicityLocks& locks)
{
    Element old{};
    Element expected{};
    do {
        Element next{};
        expected = old;
        encode(chosen.basic, {.integer = decode(chosen.basic, old.data()).integer + 1},
               next.data());
        static_cast<void>(rma::compare_and_swap(next.data(), expected.data(), old.data(),
                                                &basic_layout(chosen.basic), target, locks));
    } while (old != expected);
}

/// Sums and compare-and-swaps, on one element, exclude each other. So many of them that the threads
/// meet even where they have to share a core.
TEST_P(AtomicityOfSums, NoneIsLost)
{
    const Chained chosen = GetParam();
    const auto locks = std::make_unique<AtomicityLocks>();
    alignas(64) std::array<std::byte, 128> memory{};
    std::byte* target = memory.data() + chosen.shift;
    constexpr int rounds = 100'000;
    together([&](std::size_t number) {
        const bool swaps = number == 0 && rma::can_compare_and_swap(chosen.basic);
        for (int i = 0; i < (swaps ? rounds / 10 : rounds); ++i) {
            (swaps ? swap_for_one_more : add_one)(chosen, target, *locks);
        }
    });
    const bool swapped = rma::can_compare_and_swap(chosen.basic);
    const int sum = rounds * static_cast<int>(threads - 1) + (swapped ? rounds / 10 : rounds);
    Element expected{};
    encode(chosen.basic, {sum, static_cast<long double>(sum), 0}, expected.data());
    EXPECT_EQ(decode(chosen.basic, target), decode(chosen.basic, expected.data()));
}

const auto summed =
    testing::Values(Chained{Basic::i64, 0}, Chained{Basic::i64, 61}, Chained{Basic::i32, 4},
                    Chained{Basic::i32, 62}, Chained{Basic::u16, 2}, Chained{Basic::i128, 0},
                    Chained{Basic::i128, 8}, Chained{Basic::i8, 1}, Chained{Basic::f64, 0},
                    Chained{Basic::f32, 4}, Chained{Basic::c32, 8}, Chained{Basic::f80, 16});
const auto wide_ones = testing::Values(
    Chained{Basic::i64, 0}, Chained{Basic::i64, 61}, Chained{Basic::i32, 4},
    Chained{Basic::i128, 8}, Chained{Basic::f64, 0}, Chained{Basic::f64_i32, 0},
    Chained{Basic::f32_i32, 0}, Chained{Basic::f32_i32, 4}, Chained{Basic::f64_f64, 16});

INSTANTIATE_TEST_SUITE_P(Elements, AtomicityOf, wide_ones);
INSTANTIATE_TEST_SUITE_P(Elements, AtomicityOfSums, summed);

} // namespace
} // namespace sidelight::unit
