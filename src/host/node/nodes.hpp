// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "host/mpi/declarations.hpp"
#include "host/node/exchange.hpp"

/// How the members of a communicator lie on nodes. See docs/design/creation.md.
namespace sidelight::host::node {

/// The same for processes that run on one kernel, see each other in /proc and agree on the name of
/// their host and on what they share: containers on one machine are different nodes.
[[nodiscard]] std::uint64_t node_identity();

/// Whether others will map a member's memory.
enum class CanBeMapped : std::uint8_t { no, unknown, yes };

/// What all members find out in one collective step, before anything is made.
struct Survey {
    bool reached = false;                      ///< they have heard of each other
    bool worked = false;                       ///< and every member has said yes
    bool one_node = false;                     ///< all have said the same node
    bool all_know = false;                     ///< all have said that they know the split
    bool all_keep = false;                     ///< all have said that they can keep what they learn
    bool no_exclusive_locks = false;           ///< all have promised that
    bool active_at_target = false;             ///< some member has asked for that
    bool of_world = false;                     ///< no member has a session
    CanBeMapped mapped = CanBeMapped::unknown; ///< no: that of some member is not; yes: that of all
    Status wrong = Status::ok; ///< a member's arguments cannot be; of several the same one for all
};

/// What a member says.
struct SurveyAnswer {
    std::uint64_t node = 0; ///< where it wants to be seen
    bool yes = false;       ///< whether it goes along
    bool knows = false;     ///< whether it has the split of these members from an earlier time
    bool keeps = false;     ///< whether it can keep what it learns of them
    bool no_exclusive_locks = false;           ///< what it promises of the window
    bool active_at_target = false;             ///< what it asks for
    bool of_world = false;                     ///< it has the world, and no session
    CanBeMapped mapped = CanBeMapped::unknown; ///< its memory, were all on one node
    Status wrong = Status::ok;                 ///< what is the matter with its arguments
};

/// Collective.
[[nodiscard]] Survey survey(Exchange& members, const SurveyAnswer& mine) noexcept;

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
    std::uint64_t node = 0;    ///< which it was made for
    /// Of a leader, for a member table: one for each member on the node, and for each leader. Here,
    /// since the room for it has to be there before the members begin one.
    std::vector<MemberTableLoad> member_loads;
    std::vector<MemberTableLoad> node_loads;

    [[nodiscard]] bool leads() const noexcept { return index == 0; }
};

/// Collective over `comm`: those that say the same node come together. Nothing on failure.
[[nodiscard]] std::optional<NodeSplit> split_by_node(MPI_Comm comm, std::uint64_t node) noexcept;

/// Collective over `comm`. Whether the host can share memory among them all, though they may not
/// say the same node: containers.
[[nodiscard]] bool host_can_share(MPI_Comm comm) noexcept;

/// Collective over `comm`. How many may run on this member's set of cores of one kernel, on this or
/// other nodes; where the kernel does not say which one it is, on this.
[[nodiscard]] int count_on_cores(MPI_Comm comm, std::uint64_t node) noexcept;

} // namespace sidelight::host::node
