// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/held_file.hpp"
#include "base/shared_memory.hpp"
#include "host/node/exchange.hpp"

/// A window's memory on one node: one nameless file, mapped whole by every member. See
/// docs/design/node.md.
namespace sidelight::host::node {

enum class Placement : std::uint8_t {
    contiguous, ///< a member's memory begins where the one before it ends, to the byte
    pages,      ///< each member's memory begins on a page
};

/// What is asked for. The first two are the same on every member. The largest `alignment`, a power
/// of two, counts for all, and `contiguous` if any member says so; a contiguous window keeps the
/// alignment for the first part.
struct MemoryShape {
    std::size_t common_bytes = 0;  ///< once
    std::size_t control_bytes = 0; ///< per member
    std::size_t window_bytes = 0;  ///< of this member's part of the window
    Placement placement = Placement::pages;
    std::size_t alignment = 1;
};

/// Where everything is in the file. Pure arithmetic on what the members said.
struct MemoryPlan {
    std::size_t controls = 0; ///< offset of the first member's control
    std::size_t control_stride = 0;
    Placement placement = Placement::pages;
    std::vector<std::size_t> bases; ///< offsets
    std::size_t total = 0;
};

/// Empty `bases` where the sizes add up to more than there are addresses. Throws std::bad_alloc
/// where `room` has not been reserved for them.
[[nodiscard]] MemoryPlan plan_memory(const MemoryShape& shape,
                                     const std::vector<std::uint64_t>& sizes,
                                     std::vector<std::size_t> room);

/// A file as it is mapped here. It is open as well, where there are descriptors to spare: other
/// windows on the same memory are mapped by it (memory::share).
struct MappedFile {
    Mapping mapping;
    HeldFile file;
};

/// The mapped memory, zeroed at first; unmapped with its owner. `common` and every `control` begin
/// on a cache line.
class NodeMemory {
public:
    NodeMemory(MappedFile mapped, MemoryPlan plan, std::vector<std::uint64_t> sizes,
               int neighbours) noexcept;

    [[nodiscard]] std::byte* common() const noexcept { return mapped_.mapping.data(); }
    [[nodiscard]] std::byte* control(int rank) const noexcept;
    /// Also for a member that asked for nothing: an address inside the mapping.
    [[nodiscard]] std::byte* base(int rank) const noexcept;
    [[nodiscard]] std::size_t size(int rank) const noexcept;

    [[nodiscard]] Placement placement() const noexcept { return plan_.placement; }

    /// Members that run on the same set of cores as this process, itself included.
    [[nodiscard]] int neighbours() const noexcept { return neighbours_; }

    /// Nothing else may be asked for any more.
    [[nodiscard]] MappedFile give_up() noexcept { return std::move(mapped_); }

    /// What is this member's, and with rank 0 what is common, becomes zero.
    void clear(int index) noexcept;

private:
    MappedFile mapped_;
    MemoryPlan plan_;
    std::vector<std::uint64_t> sizes_;
    int neighbours_;
};

/// Memory that a window no longer needs, for the next one of the same members: small ones come and
/// go. Any thread.
class SpareMemory {
public:
    struct Taken {
        std::uint64_t window = 0; ///< the one whose memory it was; 0: there is none
        MappedFile mapped;
    };

    /// Keeps it in place of what was there, unless it is large.
    void put(std::uint64_t window, NodeMemory memory) noexcept;
    [[nodiscard]] Taken take() noexcept;

private:
    std::mutex mutex_;
    Taken kept_;
};

/// What each member tells the others.
struct MemoryCard {
    std::uint64_t core_set = 0;
    std::uint64_t window_bytes = 0;
    std::uint64_t alignment = 1;
    MemoryFileAddress file;  ///< of rank 0
    std::uint64_t spare = 0; ///< see SpareMemory
    Placement placement = Placement::pages;
    bool usable = false; ///< it has its part, and rank 0 the file
};

/// Room for what that many members tell one another. Throws std::bad_alloc when it is made, and so
/// before anything collective.
struct MemoryRoom {
    explicit MemoryRoom(std::size_t members);
    /// For that many, if there are fewer.
    void shrink(std::size_t members) noexcept;

    std::vector<MemoryCard> cards;
    std::vector<std::uint64_t> sizes;
    std::vector<std::size_t> bases; ///< reserved
};

/// Collective over members on one node. Nothing, on all of them alike, where one cannot have its
/// part, or cannot map the memory. A member that is alone gets private memory. `room` is for those
/// members, or more. `spare` is used where all have the same one, and it is large enough; each
/// member makes its own parts zero then, rank 0 the common one, and they meet before others use
/// them.
[[nodiscard]] std::optional<NodeMemory>
allocate_node_memory(Exchange& members, const MemoryShape& mine, MemoryRoom room,
                     SpareMemory::Taken spare = {}) noexcept;

} // namespace sidelight::host::node
