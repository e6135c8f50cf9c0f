// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "host/mpi/declarations.hpp"
#include "host/node/nodes.hpp"

/// What the members of a communicator need to find out only once. It stays with the communicator,
/// as an attribute, until the program frees that.
namespace sidelight::host::node {

struct NodeCommunicators {
    NodeSplit split;
    bool all_have_network = false; ///< all members have said so
};

/// Local: what this member has of the communicator. Null: nothing. Others may have something
/// nevertheless, so it may be used only when all have told each other that they have.
[[nodiscard]] std::shared_ptr<NodeCommunicators> find_node_communicators(MPI_Comm comm) noexcept;

/// Collective over `comm`: as `split_by_node`; each member keeps what is found, in place of what it
/// had, if it can. Null on failure, on all members alike.
[[nodiscard]] std::shared_ptr<NodeCommunicators>
cache_node_communicators(MPI_Comm comm, std::uint64_t node) noexcept;

/// Before the host ends: nothing is kept any more.
void forget_node_communicators() noexcept;

} // namespace sidelight::host::node
