// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "rma/channel/active_wire.hpp"
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
        list_.clear();
        Drawn message = random_.chance(30) ? garbage() : plausible();
        if (random_.chance(50)) {
            mutate(message);
        }
        const bool is_long = message.header.kind == MessageKind::reply && bytes_ > fragment_bytes;
        const int from =
            random_.chance(90) ? static_cast<int>(message.header.origin) : number(-1, 5);
        if (is_long || random_.chance(25)) {
            const std::size_t bytes = random_.chance(50) ? bytes_ : any_size();
            victim_.receive_long(from, message, bytes, random_.chance(50));
        } else {
            std::vector<std::byte> whole = with_payload(message);
            if (random_.chance(5)) {
                whole.resize(random_.below(whole.size() + 1));
            }
            victim_.receive(from, whole);
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

    Drawn garbage()
    {
        Drawn message;
        std::uint64_t words[(sizeof message.header + sizeof message.body) / 8];
        for (std::uint64_t& word : words) {
            word = any_number();
        }
        std::memcpy(&message.header, words, sizeof message.header);
        std::memcpy(message.body.data(), words + sizeof message.header / 8, message.body.size());
        message.body_size = random_.below(message.body.size() + 1);
        if (random_.chance(95)) {
            message.header.window = victim_.any_window(random_);
        }
        if (random_.chance(90)) {
            message.header.origin = static_cast<std::uint32_t>(number(0, victim_members));
        }
        bytes_ = any_number();
        return message;
    }

    Drawn plausible()
    {
        Drawn message = victim_.answer_to_any(random_);
        bytes_ = victim_.wanted_bytes();
        if (message.header.kind != MessageKind::count_ && random_.chance(60)) {
            return message;
        }
        message = {};
        message.header.window = victim_.any_window(random_);
        message.header.origin = static_cast<std::uint32_t>(number(1, 2));
        bytes_ = random_.chance(60) ? 8 * random_.below(12) : any_size();
        const std::uint64_t address = victim_.any_address(message.header.window, random_);
        if (random_.chance(10)) { // asks for more than it brings
            bytes_ = any_size();
            draw_accumulate(message, address, ReduceOp::no_op);
            return message;
        }
        draw(message, address, random_.below(message_kinds + 1));
        return message;
    }

    std::uint8_t byte_below(std::uint64_t limit)
    {
        return static_cast<std::uint8_t>(random_.below(limit));
    }

    void draw_accumulate(Drawn& message, std::uint64_t address, ReduceOp reduce)
    {
        message.set(MessageKind::accumulate,
                    AccumulateBody{.address = address,
                                   .operation = 0,
                                   .bytes = bytes_,
                                   .position = 0,
                                   .reduce = static_cast<std::uint8_t>(reduce),
                                   .basic = byte_below(datatype::basic_count + 1),
                                   .fetch = byte_below(3),
                                   .acknowledge = byte_below(2)});
    }

    /// A piece of an active message, with one of few names, so that several are one message.
    void draw_active(Drawn& message, std::uint64_t address, std::uint64_t number)
    {
        bytes_ = 8 * random_.below(24);
        message.set(MessageKind::active,
                    ActiveBody{.operation = number % 4,
                               .address = address,
                               .last = static_cast<std::int64_t>(8 * random_.below(4)),
                               .input_bytes = bytes_ + (random_.chance(20) ? 64 : 0),
                               .output_bytes = 8 * random_.below(8),
                               .output_at = bytes_ + 64,
                               .place = 8 * random_.below(40),
                               .segment = random_.below(2),
                               .segments = 1 + random_.below(3),
                               .number = 1,
                               .handler = static_cast<std::uint32_t>(random_.below(3)),
                               .reserved = byte_below(2),
                               .concurrent = byte_below(2),
                               .order = byte_below(4)});
    }

    /// A few blocks about there, which may reach anywhere.
    void draw_list(std::uint64_t address)
    {
        if (random_.chance(5)) { // as much as a fragment carries, or more
            list_ = {{.address = address, .length = 16, .count = 490U + byte_below(10)}};
            bytes_ = std::uint64_t{list_.front().length} * list_.front().count;
            return;
        }
        bytes_ = 0;
        for (std::uint64_t left = 1 + random_.below(4); left != 0; --left) {
            const ScatteredBlocks blocks{.address = address + 8 * random_.below(8),
                                         .stride = random_.chance(80)
                                                       ? 8 * number(-4, 8)
                                                       : static_cast<std::int64_t>(any_number()),
                                         .length = static_cast<std::uint32_t>(8 * number(1, 3)),
                                         .count = static_cast<std::uint32_t>(number(1, 4))};
            bytes_ += std::uint64_t{blocks.length} * blocks.count;
            list_.push_back(blocks);
            if (random_.chance(5)) {
                list_.back().count = static_cast<std::uint32_t>(any_number());
            }
        }
    }

    void draw_scattered(Drawn& message, std::uint64_t address, MessageKind kind)
    {
        draw_list(address);
        const std::uint64_t entries = list_.size() + (random_.chance(5) ? 1 : 0);
        if (kind == MessageKind::put_scattered) {
            message.set(
                kind, PutScatteredBody{.put = {.acknowledge = byte_below(2)}, .entries = entries});
        } else if (kind == MessageKind::get_scattered) {
            message.set(kind, GetScatteredBody{.get = {.bytes = bytes_}, .entries = entries});
        } else {
            draw_accumulate(message, 0, static_cast<ReduceOp>(random_.below(14)));
            message.set(kind, AccumulateScatteredBody{.accumulate = message.as<AccumulateBody>(),
                                                      .entries = entries});
        }
    }

    /// One of any kind, as a peer would fill it in.
    void draw(Drawn& message, std::uint64_t address, std::uint64_t kind)
    {
        const auto number = random_.below(20);
        const auto behind = static_cast<std::uint32_t>(random_.below(4));
        switch (static_cast<MessageKind>(kind)) {
        case MessageKind::put:
            message.set(MessageKind::put, PutBody{.address = address,
                                                  .operation = 0,
                                                  .zero_copy = static_cast<std::uint32_t>(number),
                                                  .acknowledge = byte_below(2)});
            break;
        case MessageKind::get:
            message.set(MessageKind::get, GetBody{.address = address, .bytes = bytes_});
            break;
        case MessageKind::accumulate:
            draw_accumulate(
                message, address,
                static_cast<ReduceOp>(random_.below(static_cast<unsigned>(ReduceOp::count_) + 1)));
            break;
        case MessageKind::compare_and_swap:
            message.set(MessageKind::compare_and_swap,
                        CompareAndSwapBody{.address = address,
                                           .basic = byte_below(datatype::basic_count + 1)});
            break;
        case MessageKind::done:
            message.set(MessageKind::done, DoneBody{.number = number, .zero_copies = behind});
            break;
        case MessageKind::lock:
            message.set(MessageKind::lock, LockBody{.type = byte_below(3)});
            break;
        case MessageKind::unlock:
            message.set(MessageKind::unlock, UnlockBody{.zero_copies = behind,
                                                        .type = byte_below(3),
                                                        .acknowledge = byte_below(2)});
            break;
        case MessageKind::barrier:
            message.set(MessageKind::barrier,
                        BarrierBody{.round = random_.below(4), .number = number});
            break;
        case MessageKind::active:
            draw_active(message, address, number);
            break;
        case MessageKind::active_input:
        case MessageKind::active_output:
            message.set(static_cast<MessageKind>(kind),
                        ActiveDataBody{.operation = number % 4,
                                       .segment = random_.below(3),
                                       .position = 8 * random_.below(12)});
            break;
        case MessageKind::active_reserve:
            message.set(MessageKind::active_reserve,
                        ActiveReservationBody{.operation = number % 4,
                                              .least = 8 * random_.below(36),
                                              .most = any_number()});
            break;
        case MessageKind::lost:
            message.set(MessageKind::lost, LostBody{.rank = static_cast<std::int64_t>(number)});
            break;
        case MessageKind::put_scattered:
        case MessageKind::get_scattered:
        case MessageKind::accumulate_scattered:
            draw_scattered(message, address, static_cast<MessageKind>(kind));
            break;
        case MessageKind::region_request:
            message.set(MessageKind::region_request,
                        RegionRequestBody{.first = address,
                                          .last = address + bytes_,
                                          .word = random_.below(2 * told_bytes)});
            break;
        case MessageKind::region_key:
            message.set(MessageKind::region_key, RegionKeyBody{.first = address,
                                                               .last = address + bytes_,
                                                               .told = random_.below(2)});
            break;
        default:
            message.set(static_cast<MessageKind>(kind), NoticeBody{.number = number});
        }
    }

    void mutate(Drawn& message)
    {
        if (random_.chance(50)) { // a whole field
            const std::size_t at = 8 * random_.below(message.body.size() / 8);
            const std::uint64_t value = any_number();
            std::memcpy(message.body.data() + at, &value, sizeof value);
        } else if (random_.chance(20)) {
            message.body_size = random_.below(message.body.size() + 1);
        } else {
            flip_bits(message);
        }
    }

    void flip_bits(Drawn& message)
    {
        std::byte bytes[sizeof message.header + sizeof message.body];
        std::memcpy(bytes, &message.header, sizeof message.header);
        std::memcpy(bytes + sizeof message.header, message.body.data(), message.body.size());
        for (std::uint64_t left = 1 + random_.below(4); left != 0; --left) {
            bytes[random_.below(sizeof message.header + message.body_size)] ^= std::byte{1}
                                                                               << random_.below(8);
        }
        std::memcpy(&message.header, bytes, sizeof message.header);
        std::memcpy(message.body.data(), bytes + sizeof message.header, message.body.size());
    }

    std::vector<std::byte> with_payload(const Drawn& message)
    {
        std::vector<std::byte> whole = message.bytes();
        const std::size_t head = whole.size();
        std::size_t bytes = any_size() % (fabric::max_message - head);
        if (random_.chance(60)) {
            const bool both = message.header.kind == MessageKind::compare_and_swap;
            const bool accumulates = message.header.kind == MessageKind::accumulate ||
                                     message.header.kind == MessageKind::accumulate_scattered;
            const bool none =
                message.header.kind == MessageKind::get ||
                message.header.kind == MessageKind::get_scattered ||
                (accumulates && // a scattered one's body begins with this one
                 message.as<AccumulateBody>().reduce == static_cast<std::uint8_t>(ReduceOp::no_op));
            bytes = none ? 0 : std::min<std::uint64_t>(bytes_ * (both ? 2 : 1), fragment_bytes);
        }
        whole.resize(head + bytes);
        for (std::size_t at = head; at < whole.size(); ++at) {
            whole[at] = static_cast<std::byte>(random_.next());
        }
        const auto list = std::as_bytes(std::span(list_));
        whole.insert(whole.begin() + static_cast<std::ptrdiff_t>(head), list.begin(), list.end());
        whole.resize(std::min(whole.size(), fabric::max_message));
        return whole;
    }

    Victim& victim_;
    Random random_;
    std::uint64_t bytes_ = 0;           ///< that the message drawn last is about
    std::vector<ScatteredBlocks> list_; ///< that its payload begins with
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
    std::printf("%" PRIu64 " messages, %" PRIu64 " zero-copy ones placed, %" PRIu64
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
