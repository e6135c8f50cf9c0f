// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "host/node/nodes.hpp"

/// What all members of a window know of one another, kept once on each node.
namespace sidelight::host::node {

/// One member's entry.
struct MemberRecord {
    std::uint64_t identity = 0; ///< of the process
    std::uint64_t bytes = 0;    ///< of its memory
    std::uint64_t disp_unit = 1;
    std::uint64_t window = 0;     ///< the number that it proposes for the window; rank 0's counts
    std::uint64_t address_at = 0; ///< where its network address begins among all addresses
    std::uint32_t address_bytes = 0;
    std::uint32_t node = 0;
    std::uint32_t index = 0; ///< among the members on that node
    std::int32_t rank = 0;
};

/// All of them, as they lie in the node's memory.
class MemberTable {
public:
    MemberTable() = default;
    /// `data` holds what `bytes` says for it and outlives the view.
    MemberTable(const std::byte* data, std::size_t members, std::size_t nodes) noexcept;

    [[nodiscard]] const MemberRecord& member(int rank) const noexcept
    {
        return members_[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] std::span<const MemberRecord> members() const noexcept { return members_; }
    /// Rank of each node's leader.
    [[nodiscard]] std::span<const std::int32_t> leaders() const noexcept { return leaders_; }
    [[nodiscard]] std::span<const std::byte> address(int rank) const noexcept;

    static constexpr std::size_t alignment = 64;
    [[nodiscard]] static std::size_t bytes(std::size_t members, std::size_t nodes,
                                           std::size_t address_bytes) noexcept;

private:
    std::span<const MemberRecord> members_;
    std::span<const std::int32_t> leaders_;
    const std::byte* addresses_ = nullptr;
};

/// A member table that has been taken: whole on a leader, elsewhere its measures alone.
struct MemberTableDraft {
    std::size_t members = 0;
    std::size_t nodes = 0;
    std::size_t address_bytes = 0;
    std::vector<MemberRecord> records; ///< a leader's, in rank order
    std::vector<std::int32_t> leaders;
    std::vector<std::byte> addresses;

    [[nodiscard]] std::size_t bytes() const noexcept
    {
        return MemberTable::bytes(members, nodes, address_bytes);
    }
    /// A leader writes it for its node. `data` is aligned as a MemberTable has to be.
    void write(std::byte* data) const noexcept;
};

/// Collective over the communicator that `split` was made from. Each leader hears of all members
/// from the other leaders, so nothing grows with the square of their number. `mine` needs no node,
/// index, rank or address. Nothing, on all members alike, where one has failed or run out of
/// memory.
[[nodiscard]] std::optional<MemberTableDraft>
gather_member_table(MPI_Comm comm, NodeSplit& split, MemberRecord mine,
                    std::span<const std::byte> address) noexcept;

} // namespace sidelight::host::node
