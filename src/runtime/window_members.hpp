// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fabric/joined/joined_fabric.hpp"
#include "fabric/mapped/copied_memory.hpp"
#include "host/node/kept_mappings.hpp"
#include "host/node/member_table.hpp"
#include "host/node/memory.hpp"
#include "rma/members.hpp"

namespace sidelight::runtime {

/// What the members of a window on one node tell each other.
struct Greeting {
    fabric::PeerAddress peer;
    std::uint64_t bytes = 0; ///< of its memory
    std::uint64_t disp_unit = 1;
    std::uint64_t window = 0; ///< the id that it proposes; that of rank 0 counts
    std::int32_t rank = 0;
    std::uint64_t base = 0;        ///< of the memory that it brings, as an address of its own
    std::uint64_t identity_at = 0; ///< where its identity stands, as one; 0: not to be read
    bool brings = false;           ///< its memory is not in the node's
    bool copied = false;           ///< and may be copied by the kernel, in place of messages
    bool shared = false;           ///< and others find it at `where`
    bool lasts = false;            ///< and the file there is the process's as long as it lives
    FileRange where;
};

/// The members of a window: those on this node by what they have said there, the others by the
/// member table. Where there is no member table, all are on this node, in the order of ranks.
class WindowMembers final : public rma::Members {
public:
    /// `memory`, what the member table lies in, `fabric` and `kept` must outlive it. `kept`: where
    /// mappings come from and go to; it may be null.
    WindowMembers(host::node::NodeMemory& memory, std::vector<Greeting> greetings,
                  std::optional<host::node::MemberTable> member_table, fabric::JoinedFabric& fabric,
                  host::node::KeptMappings* kept);

    /// This process brings the memory of its own part.
    void bring(int rank, std::byte* base) noexcept;

    /// For the next window. Nobody may be found any more.
    void leave_mappings() noexcept;

    Status find(int rank, rma::Member& found) noexcept override;
    [[nodiscard]] bool has_ended(int rank) noexcept override;
    [[nodiscard]] fabric::RemoteMemory* process_memory(int rank) noexcept override;

    /// Ranks on this node.
    [[nodiscard]] std::span<const std::int32_t> neighbours() const noexcept { return neighbours_; }
    /// Rank of each node's leader; the number of this node among them.
    [[nodiscard]] std::span<const std::int32_t> leaders() const noexcept;
    [[nodiscard]] std::uint32_t node() const noexcept { return node_; }
    [[nodiscard]] std::uint64_t window_id() const noexcept;
    [[nodiscard]] int size() const noexcept;

private:
    [[nodiscard]] std::optional<std::size_t> index_here(int rank) const noexcept;
    [[nodiscard]] static fabric::Worthwhile worth_copying(pid_t owner,
                                                          std::uint64_t address) noexcept;
    [[nodiscard]] bool may_copy(const Greeting& from) noexcept;
    void find_copied(std::size_t index, rma::Member& found);
    void find_here(int rank, std::size_t index, rma::Member& found) noexcept;
    [[nodiscard]] std::byte* map_brought(std::size_t index) noexcept;

    host::node::NodeMemory& memory_;
    std::vector<Greeting> greetings_; ///< of the members on this node
    std::optional<host::node::MemberTable> member_table_;
    fabric::JoinedFabric& fabric_;
    host::node::KeptMappings* kept_;
    std::vector<std::int32_t> neighbours_;
    std::vector<std::unique_ptr<fabric::CopiedMemory>> copied_; ///< theirs that is not mapped
    /// All that is theirs, once somebody has asked; null: the kernel refuses.
    std::vector<std::optional<std::unique_ptr<fabric::CopiedMemory>>> processes_;
    std::vector<Mapping> brought_by_; ///< memory that members on this node bring, where mapped
    std::uint32_t node_ = 0;
    int bringer_ = -1;
    std::byte* brought_ = nullptr;
};

} // namespace sidelight::runtime
