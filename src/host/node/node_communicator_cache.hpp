// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "host/mpi/declarations.hpp"
#include "host/node/exchange.hpp"
#include "host/node/kept_mappings.hpp"
#include "host/node/member_table.hpp"
#include "host/node/memory.hpp"
#include "host/node/nodes.hpp"

/// What the members of a communicator need to find out only once. It is kept until the communicator
/// is freed, which an attribute tells.
namespace sidelight::host::node {

/// An exchange that a thread takes while another sets it. (An std::atomic of it would do, which the
/// library of GCC 11 has not.)
class KeptExchange {
public:
    [[nodiscard]] std::shared_ptr<Exchange> get() const
    {
        const std::scoped_lock lock(mutex_);
        return exchange_;
    }
    void set(std::shared_ptr<Exchange> exchange)
    {
        const std::scoped_lock lock(mutex_);
        exchange_.swap(exchange); // the former one ends without the lock
    }

private:
    mutable std::mutex mutex_;
    std::shared_ptr<Exchange> exchange_; // guarded by mutex_
};

/// Others may lack what this member has, so it is used only when all have told each other that they
/// have it; but all have `in_memory` or nobody.
struct NodeCommunicators {
    /// All of them, where they are on one node. Given up when the world ends, also beside a thread
    /// that is in it.
    KeptExchange in_memory;
    std::optional<NodeSplit> split;
    /// The one of the latest window: what it says of processes stays true.
    std::optional<MemberTableDraft> member_table;
    SpareMemory spare; ///< where they are on one node
    /// Of members on this node.
    std::shared_ptr<KeptMappings> brought = std::make_shared<KeptMappings>();
    bool all_have_network = false; ///< all members have said so
    bool kept = false;             ///< with the communicator
};

/// Local: what this member has kept of the communicator, or, if nothing, something new and empty,
/// kept from now on if that is possible. Null: no memory.
[[nodiscard]] std::shared_ptr<NodeCommunicators> recall_node_communicators(MPI_Comm comm) noexcept;

/// Before the host ends: nothing is kept any more.
void forget_node_communicators() noexcept;

} // namespace sidelight::host::node
