// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "host/mpi/declarations.hpp"

/// How the members of a communicator lie on nodes. See docs/design/creation.md.
namespace sidelight::host::node {

/// The same for processes that run on one kernel, see each other in /proc and agree on the name of
/// their host and on what they share: containers on one machine are different nodes.
[[nodiscard]] std::uint64_t node_identity();

/// What all members find out in one collective step, before anything is made.
struct Survey {
    bool worked = false;       ///< every member has taken part and said yes
    bool one_node = false;     ///< all have said the same node
    bool all_know = false;     ///< all have said that they know the split
    Status wrong = Status::ok; ///< a member's arguments cannot be; of several the same one for all
};

/// Collective: `node` is where this member wants to be seen, `yes` whether it goes along, `knows`
/// whether it has the split of these members from an earlier time, `wrong` what is the matter with
/// its arguments.
[[nodiscard]] Survey survey(MPI_Comm comm, std::uint64_t node, bool yes, bool knows = false,
                            Status wrong = Status::ok) noexcept;

/// A communicator that is freed with its owner.
class OwnedCommunicator {
public:
    OwnedCommunicator() = default;
    OwnedCommunicator(OwnedCommunicator&& other) noexcept
        : comm_(std::exchange(other.comm_, MPI_COMM_NULL))
    {}
    OwnedCommunicator& operator=(OwnedCommunicator&& other) noexcept
    {
        std::swap(comm_, other.comm_);
        return *this;
    }
    ~OwnedCommunicator();
    OwnedCommunicator(const OwnedCommunicator&) = delete;
    OwnedCommunicator& operator=(const OwnedCommunicator&) = delete;

    [[nodiscard]] MPI_Comm get() const noexcept { return comm_; }
    [[nodiscard]] MPI_Comm* address() noexcept { return &comm_; }

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
};

/// What a member, or a node with all of its members, has to say in a member table.
struct MemberTableLoad {
    int record_bytes = 0;
    int address_bytes = 0;
};

/// The members on one node, and the node's leader, its first member, among the other leaders.
struct NodeSplit {
    OwnedCommunicator on_node;
    OwnedCommunicator leaders; ///< null but on a leader
    int index = 0;             ///< of this member on the node
    int members = 0;           ///< on the node
    /// Of a leader, for a member table: one for each member on the node, and for each leader. Here,
    /// since the room for it has to be there before the members begin one.
    std::vector<MemberTableLoad> member_loads;
    std::vector<MemberTableLoad> node_loads;

    [[nodiscard]] bool leads() const noexcept { return index == 0; }
};

/// Collective over `comm`: those that say the same node come together. Nothing on failure.
[[nodiscard]] std::optional<NodeSplit> split_by_node(MPI_Comm comm, std::uint64_t node) noexcept;

} // namespace sidelight::host::node
