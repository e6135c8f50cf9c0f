// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "network/team.hpp"

/// Messages whose contents say what they must be, and a receiver that looks.
namespace sidelight::network_tests {

/// The header of every message of the tests.
struct Label {
    std::uint64_t index = 0; ///< among those of its kind from this sender to this receiver
    std::uint64_t bytes = 0; ///< of payload
    std::uint64_t after = 0; ///< long: short ones sent before
    std::int32_t sender = 0; ///< rank
    std::int32_t is_long = 0;
};

inline std::byte pattern(const Label& label, std::size_t position)
{
    const std::uint64_t mixed = (label.index * 131 + static_cast<std::uint64_t>(label.sender) * 31 +
                                 static_cast<std::uint64_t>(label.is_long) * 17 + position / 8) *
                                0x9e3779b97f4a7c15U;
    return static_cast<std::byte>(mixed >> (8 * (position % 8)));
}

inline std::vector<std::byte> payload_of(const Label& label)
{
    std::vector<std::byte> bytes(label.bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = pattern(label, i);
    }
    return bytes;
}

inline bool is_payload_of(const Label& label, std::span<const std::byte> bytes)
{
    if (bytes.size() != label.bytes) {
        return false;
    }
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] != pattern(label, i)) {
            return false;
        }
    }
    return true;
}

inline std::span<const std::byte> bytes_of(const Label& label)
{
    return std::as_bytes(std::span(&label, 1));
}

/// Looks at all that comes, and counts it.
class Checker : public fabric::Receiver {
public:
    explicit Checker(Member& member) : member_(member) {}

    void receive(int from, std::span<const std::byte> message) noexcept override
    {
        Label label;
        ASSERT_GE(message.size(), sizeof label);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(message.data()) % 8, 0U);
        std::memcpy(&label, message.data(), sizeof label);
        EXPECT_EQ(label.sender, member_.rank_of(from));
        EXPECT_EQ(label.is_long, 0);
        EXPECT_EQ(label.index, short_from(label.sender)) << "not in the order sent";
        EXPECT_TRUE(is_payload_of(label, message.subspan(sizeof label)));
        ++short_from(label.sender);
        received(from, label);
    }

    std::byte* place(int from, std::span<const std::byte> header,
                     std::size_t bytes) noexcept override
    {
        const Label label = label_in(header);
        EXPECT_EQ(label.sender, member_.rank_of(from));
        EXPECT_EQ(label.is_long, 1);
        EXPECT_EQ(label.bytes, bytes);
        EXPECT_LE(label.after, short_from(label.sender)) << "overtook what was sent before";
        if (refuse_every != 0 && label.index % refuse_every == refuse_every - 1) {
            ++refused;
            return nullptr;
        }
        places_.push_back({label, std::vector<std::byte>(bytes + 1)});
        return places_.back().bytes.data();
    }

    void placed(int from, std::span<const std::byte> header, std::size_t bytes) noexcept override
    {
        const Label label = label_in(header);
        EXPECT_EQ(label.sender, member_.rank_of(from));
        for (auto place = places_.begin(); place != places_.end(); ++place) {
            if (place->label.index == label.index && place->label.sender == label.sender) {
                place->bytes.pop_back();
                EXPECT_EQ(place->bytes.size(), bytes);
                EXPECT_TRUE(is_payload_of(label, place->bytes));
                places_.erase(place);
                ++longs;
                return;
            }
        }
        ADD_FAILURE() << "placed without a place, or twice";
    }

    void lost(int peer) noexcept override { lost_ranks.push_back(member_.rank_of(peer)); }

    /// What a test does with a message.
    virtual void received(int /*from*/, const Label& /*label*/) noexcept {}

    [[nodiscard]] std::uint64_t& short_from(int rank)
    {
        return shorts_[static_cast<std::size_t>(rank)];
    }

    std::uint64_t longs = 0;
    std::uint64_t refused = 0;
    std::uint64_t refuse_every = 0; ///< 0: none
    std::vector<int> lost_ranks;

private:
    struct Place {
        Label label;
        std::vector<std::byte> bytes;
    };

    static Label label_in(std::span<const std::byte> header)
    {
        Label label;
        EXPECT_EQ(header.size(), sizeof label);
        std::memcpy(&label, header.data(), sizeof label);
        return label;
    }

    Member& member_;
    std::uint64_t shorts_[max_members] = {};
    std::list<Place> places_;
};

/// Sends labelled messages to one peer.
class Sender {
public:
    Sender(Member& member, int to) : member_(member), to_(to) {}

    void send_short(std::size_t bytes)
    {
        const Label label{.index = shorts, .bytes = bytes, .sender = member_.rank()};
        EXPECT_EQ(member_.fabric().send(member_.peer(to_), bytes_of(label), payload_of(label)),
                  Status::ok);
        ++shorts;
    }

    void send_zero_copy(std::size_t bytes)
    {
        const Label label{.index = longs,
                          .bytes = bytes,
                          .after = shorts,
                          .sender = member_.rank(),
                          .is_long = 1};
        auto flight = std::make_unique<Flight>();
        flight->finished = on_finished;
        flight->sender = this;
        flight->payload = payload_of(label);
        EXPECT_EQ(member_.fabric().send_zero_copy(member_.peer(to_), bytes_of(label),
                                                  flight->payload, *flight),
                  Status::ok);
        EXPECT_FALSE(flight->done) << "finished within the call that started it";
        flights_.push_back(std::move(flight));
        ++longs;
    }

    std::uint64_t shorts = 0;
    std::uint64_t longs = 0;
    std::uint64_t finished = 0;
    std::uint64_t failed = 0;

private:
    struct Flight : fabric::Completion {
        Sender* sender = nullptr;
        bool done = false;
        std::vector<std::byte> payload;
    };

    static void on_finished(fabric::Completion& self, Status status) noexcept
    {
        auto& flight = static_cast<Flight&>(self);
        EXPECT_FALSE(flight.done) << "finished twice";
        flight.done = true;
        flight.payload.clear(); // may be reused now, so it is
        flight.payload.shrink_to_fit();
        ++(status == Status::ok ? flight.sender->finished : flight.sender->failed);
    }

    Member& member_;
    int to_;
    std::vector<std::unique_ptr<Flight>> flights_;
};

} // namespace sidelight::network_tests
