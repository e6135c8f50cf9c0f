// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/doorbell.hpp"
#include "base/status.hpp"
#include "fabric/remote_memory.hpp"

/// What the engine has to know of the members of a window, and who tells it.
namespace sidelight::rma {

struct Control;

/// How one member is reached. Addresses are those of this process.
struct Member {
    bool mapped = false;       ///< its memory is at `base`; else operations travel as messages
    std::byte* base = nullptr; ///< in a dynamic window displacements are addresses: null
    std::uint64_t size = 0;
    std::uint64_t disp_unit = 1;
    Control* control = nullptr; ///< its block; null where it is on another node
    std::uint32_t number = 0;   ///< with a block: its number among those on this node
    int peer = 0;               ///< its number in the fabric
    /// What the fabric can do with its memory where that is not mapped; offsets are those of
    /// operations. Belongs to whoever tells of the member. Null: nothing.
    fabric::RemoteMemory* remote = nullptr;
};

/// Who the members are. Asked for a member at the first contact with it, so that each process pays
/// only for those that it talks to. Belongs to the caller and outlives the window.
class Members {
public:
    /// Whatever it takes to reach that member. Status::no_memory is one that can be tried again.
    virtual Status find(int rank, Member& found) noexcept = 0;
    /// Whether the process of a member on this node has ended. May be slow.
    [[nodiscard]] virtual bool has_ended(int /*rank*/) noexcept { return false; }

    /// All memory of the process of another member on this node; offsets are addresses there.
    /// Belongs to whoever tells of the member. Null: it cannot be read. May be slow at first.
    [[nodiscard]] virtual fabric::RemoteMemory* process_memory(int /*rank*/) noexcept
    {
        return nullptr;
    }

protected:
    ~Members() = default;
};

/// One per window and node, in memory that all members of the window there share.
struct alignas(64) BarrierWord {
    std::atomic<std::uint64_t> arrivals{0}; ///< at all barriers of the window, added up
    /// The highest barrier that all members have passed; used where there are several nodes, and
    /// written by the leader alone.
    alignas(64) std::atomic<std::uint64_t> passed{0};
    /// Members that wait for nothing but a barrier sleep here, all together: one call wakes them.
    Doorbell bell;
};

/// What a barrier is made of. A node's leader is one member on it, which speaks for the others.
struct BarrierShape {
    BarrierWord* word = nullptr;           ///< of this node
    std::uint32_t node = 0;                ///< number of this node among those of the window
    std::span<const std::int32_t> leaders; ///< rank of each node's leader, in order of nodes

    [[nodiscard]] bool one_node() const noexcept { return leaders.size() <= 1; }
};

} // namespace sidelight::rma
