// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/remote_memory.hpp"
#include "fabric/sim/network.hpp"

namespace sidelight::fabric::sim {

/// What a card needs to find memory of a rank.
struct Key {
    std::uint64_t number = 0;
    std::int64_t rank = -1;
};

/// An access that the cards of two ranks perform. Its pieces travel one by one and overtake each
/// other. What is put is read when its origin is told that it has left, or else when it lands, so
/// an origin that uses its memory again too early is found out.
struct Transfer {
    using Pointer = std::shared_ptr<Transfer>;

    /// At the card of the target, or back at that of the origin; behind the last piece: all of them
    /// leave.
    static void step(const Pointer& transfer, int rank, std::size_t piece);

    Network& network;
    int origin;
    Key key;
    bool put;
    Completion& done;
    std::vector<AccessPiece> pieces;
    std::vector<std::vector<std::byte>> moved; ///< the pieces that are on their way
    std::size_t left = 0;                      ///< pieces that have not arrived
    Status status = Status::ok;

private:
    void leave();
    static void arrive(const Pointer& transfer, std::size_t piece);
    void access(std::span<std::byte> memory, std::size_t piece);
    Time time_back(std::size_t piece);
    void come_back(std::size_t piece);
};

/// Memory of a rank that the cards read and write.
class CardMemory final : public RemoteMemory {
public:
    CardMemory(Endpoint& endpoint, Key key) noexcept
        : RemoteMemory({}, false), endpoint_(endpoint), key_(key)
    {}

    Access put(std::span<const AccessPiece> pieces, Completion& done) noexcept override
    {
        return start(true, pieces, done);
    }
    Access get(std::span<const AccessPiece> pieces, Completion& done) noexcept override
    {
        return start(false, pieces, done);
    }

    bool fence() noexcept override;

private:
    Access start(bool put, std::span<const AccessPiece> pieces, Completion& done);

    Endpoint& endpoint_;
    Key key_;
};

} // namespace sidelight::fabric::sim
