// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

#include "wire_victim.hpp"

/// Nothing malformed on the wire can write outside a window: messages of every kind, made up,
/// mutated, cut, late and doubled, against an engine whose operations are in flight. In the
/// environment: SIDELIGHT_FUZZ_SEED is the first seed, SIDELIGHT_FUZZ_MESSAGES their number.
namespace sidelight::rma {
namespace {

using fabric::sim::Random;

constexpr std::uint64_t messages_per_seed = 2'000;
constexpr std::uint64_t messages_in_all = 400'000;

std::uint64_t environment(const char* name, std::uint64_t otherwise)
{
    const char* text = std::getenv(name);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Draws messages: like those that the victim's peers would send, or as unlike as they come.
class Attacker {
public:
    Attacker(Victim& victim, std::uint64_t seed) : victim_(victim), random_(seed) {}

    void step()
    {
        victim_.keep_busy(random_);
        MessageHeader header = random_.chance(30) ? garbage() : plausible();
        if (random_.chance(50)) {
            mutate(header);
        }
        const bool is_long = header.kind == MessageKind::reply && header.bytes > piece_bytes;
        const int from = random_.chance(90) ? static_cast<int>(header.origin) : number(-1, 5);
        if (is_long || random_.chance(25)) {
            const std::size_t bytes = random_.chance(50) ? header.bytes : any_size();
            victim_.receive_long(from, header, bytes, random_.chance(50));
        } else {
            std::vector<std::byte> message = with_payload(header);
            if (random_.chance(5)) {
                message.resize(random_.below(message.size() + 1));
            }
            victim_.receive(from, message);
        }
        if (random_.chance(20)) {
            victim_.settle_one_long(random_);
        }
        if (random_.chance(3)) {
            victim_.sweep();
        }
    }

private:
    int number(int first, int last) { return random_.between(first, last); }

    /// Sizes and offsets: few, on an edge of something, or anything at all.
    std::uint64_t any_number()
    {
        switch (random_.below(5)) {
        case 0:
            return random_.below(10);
        case 1:
            return random_.below(2 * victim_window_bytes);
        case 2:
            return victim_window_bytes + random_.below(17) - 8;
        case 3:
            return std::uint64_t{0} - random_.below(2 * victim_window_bytes);
        default:
            return random_.next() >> random_.below(64);
        }
    }

    std::size_t any_size()
    {
        static constexpr std::size_t sizes[] = {0,    1,    2,    3,     4,     8,    12,
                                                16,   20,   31,   32,    4095,  4096, 4097,
                                                8191, 8192, 8193, 10000, 16384, 40000};
        return random_.chance(70) ? sizes[random_.below(std::size(sizes))] : random_.below(50'000);
    }

    MessageHeader garbage()
    {
        MessageHeader header;
        std::uint64_t words[sizeof header / 8];
        for (std::uint64_t& word : words) {
            word = any_number();
        }
        std::memcpy(&header, words, sizeof header);
        if (random_.chance(95)) {
            header.window = victim_.any_window(random_);
        }
        if (random_.chance(90)) {
            header.origin = static_cast<std::uint32_t>(number(0, victim_members));
        }
        return header;
    }

    MessageHeader plausible()
    {
        MessageHeader header = victim_.answer_to_any(random_);
        if (header.kind != MessageKind::count_ && random_.chance(60)) {
            return header;
        }
        header = {};
        header.kind = static_cast<MessageKind>(
            random_.below(static_cast<std::uint64_t>(MessageKind::count_) + 1));
        header.window = victim_.any_window(random_);
        header.origin = static_cast<std::uint32_t>(number(1, 2));
        header.basic = static_cast<std::uint8_t>(random_.below(datatype::basic_count + 1));
        header.reduce =
            static_cast<std::uint8_t>(random_.below(static_cast<unsigned>(ReduceOp::count_) + 1));
        header.flag = static_cast<std::uint8_t>(random_.below(3));
        header.bytes = random_.chance(60) ? 8 * random_.below(12) : any_size();
        header.address = victim_.any_address(header.window, random_);
        if (random_.chance(10)) { // asks for more than it brings
            header.kind = MessageKind::accumulate;
            header.reduce = static_cast<std::uint8_t>(ReduceOp::no_op);
            header.bytes = any_size();
        }
        header.number = random_.below(20);
        header.round = random_.below(4);
        return header;
    }

    void mutate(MessageHeader& header)
    {
        switch (random_.below(8)) {
        case 0:
            header.address += any_number();
            break;
        case 1:
            header.bytes = any_number();
            break;
        case 2:
            header.position = any_number();
            break;
        case 3:
            header.cookie += random_.chance(50) ? 1 : std::uint64_t{1} << random_.below(64);
            break;
        case 4:
            header.number = any_number();
            break;
        default:
            flip_bits(header);
        }
    }

    void flip_bits(MessageHeader& header)
    {
        std::byte bytes[sizeof header];
        std::memcpy(bytes, &header, sizeof header);
        for (std::uint64_t left = 1 + random_.below(4); left != 0; --left) {
            bytes[random_.below(sizeof bytes)] ^= std::byte{1} << random_.below(8);
        }
        std::memcpy(&header, bytes, sizeof header);
    }

    std::vector<std::byte> with_payload(const MessageHeader& header)
    {
        std::size_t bytes = any_size() % (fabric::max_message - sizeof header);
        if (random_.chance(60)) {
            const bool both = header.kind == MessageKind::compare_and_swap;
            const bool none = header.kind == MessageKind::get ||
                              header.reduce == static_cast<std::uint8_t>(ReduceOp::no_op);
            bytes = none ? 0 : std::min<std::uint64_t>(header.bytes * (both ? 2 : 1), piece_bytes);
        }
        std::vector<std::byte> message(sizeof header + bytes);
        std::memcpy(message.data(), &header, sizeof header);
        for (std::size_t at = sizeof header; at < message.size(); ++at) {
            message[at] = static_cast<std::byte>(random_.next());
        }
        return message;
    }

    Victim& victim_;
    Random random_;
};

} // namespace

TEST(WireFuzz, NothingIsWrittenOutsideAWindow)
{
    setenv("SIDELIGHT_LOG", "none", 1); // each message that is dropped would be a line
    const std::uint64_t first = environment("SIDELIGHT_FUZZ_SEED", 1);
    const std::uint64_t seeds =
        (environment("SIDELIGHT_FUZZ_MESSAGES", messages_in_all) + messages_per_seed - 1) /
        messages_per_seed;
    VictimStatistics seen;
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        SCOPED_TRACE("replay: SIDELIGHT_FUZZ_SEED=" + std::to_string(seed) +
                     " SIDELIGHT_FUZZ_MESSAGES=" + std::to_string(messages_per_seed));
        const SeedTeller teller(seed);
        Victim victim;
        Attacker attacker(victim, seed);
        for (std::uint64_t message = 0; message < messages_per_seed; ++message) {
            attacker.step();
            const char* wrong = message % 16 == 0 ? victim.wrong() : nullptr;
            ASSERT_TRUE(wrong == nullptr) << wrong << ", after message " << message;
        }
        const char* wrong = victim.wrong();
        ASSERT_TRUE(wrong == nullptr) << wrong << ", at the end";
        seen.add(victim.statistics());
    }
    std::printf("%" PRIu64 " messages, %" PRIu64 " long ones placed, %" PRIu64
                " operations issued, %" PRIu64 " completed, %" PRIu64 " with an error\n",
                seen.messages, seen.placed, seen.issued, seen.completed, seen.failed);
    // It has tried what can be tried.
    EXPECT_GT(seen.placed, seen.messages / 400);
    EXPECT_GT(seen.completed - seen.failed, seen.messages / 1000);
    EXPECT_GT(seen.failed, seen.messages / 1000);
    EXPECT_GT(seen.written, 0U);
    EXPECT_GT(seen.accessed, 0U);
}

} // namespace sidelight::rma
