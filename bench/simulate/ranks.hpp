// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "options.hpp"
#include "rma/engine/process.hpp"

namespace sidelight::simulate {

/// Throws std::runtime_error where a call of the engine is refused, which none should be.
void demand(Status status);

/// Zeroed memory on a page of its own; what is not touched takes none.
class Block {
public:
    explicit Block(std::size_t bytes);
    ~Block();
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    [[nodiscard]] std::byte *at(std::size_t offset) const noexcept { return first_ + offset; }

private:
    std::size_t bytes_;
    std::byte *first_;
};

/// The ranks of a machine, with memory for a window of `bytes` of each. What they run is not here.
class Ranks {
public:
    Ranks(const Machine& machine, int count, std::size_t bytes, std::uint64_t seed);

    [[nodiscard]] int count() const noexcept { return count_; }
    [[nodiscard]] std::byte *memory(int rank) const noexcept
    {
        return memory_.at(static_cast<std::size_t>(rank) * bytes_);
    }
    /// The number of its node.
    [[nodiscard]] int node_of(int rank) const noexcept { return rank / node_; }
    /// Whether the memory of one is mapped by the other.
    [[nodiscard]] bool neighbours(int rank, int other) const noexcept
    {
        return node_of(rank) == node_of(other);
    }
    /// Whether the rank needs messages at all.
    [[nodiscard]] bool several_nodes() const noexcept { return count_ > node_; }
    /// What the rank's process makes its window of; displacements are in units of `unit`.
    [[nodiscard]] rma::WindowShape shape(int rank, std::uint64_t unit);

    fabric::sim::Network network;
    fabric::sim::Random random;

private:
    struct Members final : rma::Members {
        Members(Ranks& all, int rank) : ranks(all), own(rank) {}
        Status find(int rank, rma::Member& found) noexcept override;
        Ranks& ranks;
        int own;
        std::uint64_t unit = 1;
    };

    int count_;
    int node_;
    std::size_t bytes_;
    std::size_t control_;
    Block controls_;
    Block memory_;
    std::vector<rma::BarrierWord> barriers_;
    std::vector<std::int32_t> everybody_;
    std::vector<std::int32_t> leaders_;
    std::vector<std::unique_ptr<Members>> members_;
};

} // namespace sidelight::simulate
