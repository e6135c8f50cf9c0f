// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <span>
#include <vector>

#include "rma/process.hpp"

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
    Status send_long(int /*peer*/, std::span<const std::byte> /*header*/,
                     std::span<const std::byte> /*payload*/,
                     fabric::Completion& /*sent*/) noexcept override
    {
        return Status::ok;
    }
    bool poll(fabric::Receiver& /*receiver*/) noexcept override { return false; }
    void wake(int /*peer*/) noexcept override {}

    int pushes = 0;
};

/// This process is rank 0; each rank is on a node of its own.
class ThreeNodes final : public Members {
public:
    ThreeNodes() : block_(Control::bytes(3) / sizeof(Line)) { Control::create(block_.data(), 3); }

    Status find(int rank, Member& found) noexcept override
    {
        found.size = sizeof memory_;
        found.peer = rank;
        found.mapped = rank == 0;
        found.base = rank == 0 ? memory_.data() : nullptr;
        found.control = rank == 0 ? reinterpret_cast<Control*>(block_.data()) : nullptr;
        return Status::ok;
    }

private:
    struct alignas(64) Line {
        std::byte bytes[64];
    };
    std::vector<Line> block_;
    std::array<std::byte, 64> memory_{};
};

} // namespace sidelight::rma
