// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.hpp"
#include "datatype/cursor.hpp"
#include "rma/operation.hpp"

namespace sidelight::rma {

struct Channel;

/// What an operation has while it travels as messages: how far it has been sent, and how far it has
/// been answered. The counters are the data of the operation's state table: they say when it is
/// sent, free of its buffers, and answered. From the process's Flights.
struct Flight {
    Op* op = nullptr; ///< null: not in use
    Channel* channel = nullptr;
    datatype::Cursor target{{nullptr, nullptr, 0}}; ///< over offsets in place of addresses
    datatype::Cursor data{{nullptr, nullptr, 0}};   ///< what is sent, or for a get where it goes
    datatype::Cursor answers{{nullptr, nullptr, 0}};
    std::uint64_t position = 0; ///< bytes of data that are sent, or asked for
    std::uint64_t answered = 0; ///< where `answers` is
    std::uint64_t received = 0; ///< bytes of data that have come back

    std::uint32_t replies = 0;       ///< fragments with answers of their own that are not answered
    std::uint32_t last_fragment = 0; ///< number of the latest one without
    bool unacknowledged = false;     ///< that one is not acknowledged
    std::uint32_t reading = 0;       ///< zero-copy messages whose data are being read here
    std::uint32_t placing = 0;       ///< zero-copy answers whose data are being written here
    std::uint32_t zero_copies = 0;   ///< zero-copy puts that it is made of
    bool copied = false;             ///< no fragment is zero-copy
    bool owes_notification = false;  ///< it is to be sent
    Status status = Status::ok;      ///< the first reason why a fragment was not performed

    std::uint32_t number = 0;     ///< index in the table
    std::uint32_t generation = 0; ///< one more for each use; never 0 in use
    Flight* next = nullptr;

    /// Whether the target has answered all that was sent so far.
    [[nodiscard]] bool all_answered() const noexcept
    {
        return replies == 0 && !unacknowledged && !owes_notification;
    }
    /// Whether memory of the origin is in use by the fabric.
    [[nodiscard]] bool buffers_in_use() const noexcept { return reading != 0 || placing != 0; }
};

/// All of a process's, by the names that its peers send back. A name is good for one use: an answer
/// that is made up, or comes twice, finds nothing. None is 0.
class Flights {
public:
    /// Null when memory has run out.
    [[nodiscard]] Flight* take(Op& op, Channel& channel) noexcept;
    void give_back(Flight& flight) noexcept;

    [[nodiscard]] static std::uint64_t name(const Flight& flight) noexcept
    {
        return std::uint64_t{flight.generation} << 32 | flight.number;
    }
    /// Null if there is none of that name on that channel.
    [[nodiscard]] Flight* find(std::uint64_t name, const Channel& channel) noexcept;
    /// All on that channel; `visit` may give back the one that it is given.
    template <class Visit>
    void for_each(const Channel& channel, Visit visit) noexcept
    {
        for (const auto& slab : slabs_) {
            for (std::size_t index = 0; index < slab_flights; ++index) {
                if (slab[index].op != nullptr && slab[index].channel == &channel) {
                    visit(slab[index]);
                }
            }
        }
    }

private:
    static constexpr std::size_t slab_flights = 64;
    bool grow() noexcept;

    std::vector<std::unique_ptr<Flight[]>> slabs_;
    Flight* free_ = nullptr;
};

} // namespace sidelight::rma
