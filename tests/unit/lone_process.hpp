// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "rma/engine/process.hpp"

/// One process alone, that believes to have peers: what it does with what it is told.
namespace sidelight::rma {

/// Counts pushes; nothing is carried.
class CountingFabric final : public fabric::Fabric {
public:
    Status send(int /*peer*/, std::span<const std::byte> /*header*/,
                std::span<const std::byte> /*payload*/) noexcept override
    {
        return Status::ok;
    }
    void push() noexcept override { ++pushes; }
    Status send_zero_copy(int /*peer*/, std::span<const std::byte> /*header*/,
                          std::span<const std::byte> /*payload*/,
                          fabric::Completion& /*sent*/) noexcept override
    {
        return Status::ok;
    }
    bool poll(fabric::Receiver& /*receiver*/) noexcept override { return false; }

    int pushes = 0;
};

/// This process is rank 0; each rank is on a node of its own, but for those that are brought near.
class ThreeNodes final : public Members {
public:
    ThreeNodes()
    {
        for (One& member : members_) {
            member.block.resize(Control::bytes(3) / sizeof(Line));
            Control::create(member.block.data(), 3);
        }
        bring_near(0);
    }

    /// From now on it is on the node of this process.
    void bring_near(int rank) { members_.at(static_cast<std::size_t>(rank)).near = true; }

    Status find(int rank, Member& found) noexcept override
    {
        One& one = members_.at(static_cast<std::size_t>(rank));
        found.size = sizeof one.memory;
        found.peer = rank;
        found.mapped = one.near;
        found.base = one.near ? one.memory.data() : nullptr;
        found.control = one.near ? reinterpret_cast<Control*>(one.block.data()) : nullptr;
        return Status::ok;
    }

private:
    struct alignas(64) Line {
        std::byte bytes[64];
    };
    struct One {
        std::vector<Line> block;
        std::array<std::byte, 64> memory{};
        bool near = false;
    };
    std::array<One, 3> members_;
};

class LoneProcess : public testing::Test {
protected:
    LoneProcess() { process_.set_messages(true); }

    Window& make_window(std::uint64_t id)
    {
        WindowShape shape;
        shape.id = id;
        shape.size = 3;
        shape.members = &members_;
        shape.neighbours = self_;
        shape.barrier = {.word = &word_, .node = 0, .leaders = leaders_};
        return process_.create_window(shape);
    }

    template <class Body>
    void hear(int peer, const Framed<Body>& message)
    {
        process_.receive(peer, message.bytes());
    }

    CountingFabric fabric_;
    ThreeNodes members_;
    BarrierWord word_;
    std::array<std::int32_t, 1> self_{0};
    std::array<std::int32_t, 3> leaders_{0, 1, 2};
    Process process_{fabric_};
};

} // namespace sidelight::rma
