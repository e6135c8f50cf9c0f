// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/shared_memory.hpp"
#include "base/status.hpp"
#include "fabric/peer_memory.hpp"
#include "rma/region/region_block.hpp"
#include "rma/region/region_name.hpp"

/// The memory attached to a dynamic window by one member, as all members of the node see it. The
/// owner alone writes, attach and detach being local calls; the others read at any time, without a
/// lock. See docs/design/user-memory.md.
namespace sidelight::rma {

/// In the owner's block of the node's shared memory; all zero: nothing is attached. Every word is
/// stored by the owner alone: release there pairs with acquire in the readers.
struct alignas(64) RegionTableRoot {
    std::atomic<std::uint64_t> generation; ///< changes with every detach, before it returns
    std::atomic<std::uint64_t> sequence;   ///< odd while the owner changes what follows
    std::atomic<std::uint64_t> process;    ///< where the block is: owner and descriptor
    std::atomic<std::uint64_t> inode;
    std::atomic<std::uint64_t> offset;
    std::atomic<std::uint64_t> capacity; ///< slots of the block; 0: there is none
    std::atomic<std::uint64_t> count;    ///< regions
    std::atomic<std::uint64_t> begin;    ///< of their keys in the ring
};

/// Addresses of an owner, up to `last` and without it.
struct AddressRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;

    [[nodiscard]] bool empty() const noexcept { return first >= last; }
    [[nodiscard]] bool holds(const AddressRange& other) const noexcept
    {
        return first <= other.first && other.last <= last;
    }
};

/// The owner's side. Needs the engine, as every call of the window does.
class RegionTable {
public:
    /// Both must outlive it.
    RegionTable(RegionTableRoot& root, fabric::PeerMemory& memory) noexcept
        : root_(root), memory_(memory)
    {}
    ~RegionTable();
    RegionTable(const RegionTable&) = delete;
    RegionTable& operator=(const RegionTable&) = delete;

    /// Status::rma_attach if the range overlaps with one that is attached. `where` is not set if
    /// peers cannot map it.
    Status attach(const std::byte* base, std::size_t size,
                  const std::optional<FileRange>& where) noexcept;
    /// Status::base if no region starts there.
    Status detach(const std::byte* base) noexcept;
    /// Takes in a region that is found by its name alone, whatever is attached there. `lasting`:
    /// its file lives as long as this process.
    Status expose(const std::byte* base, std::size_t size, const std::optional<FileRange>& where,
                  bool lasting, RegionName& name) noexcept;
    /// Nothing is let in by that name any more. Status::argument if there is no such region.
    Status withdraw(RegionName name) noexcept;
    /// Whether all bytes from `first` up to `last` lie in the region of that name.
    [[nodiscard]] bool holds(RegionName name, std::uint64_t first,
                             std::uint64_t last) const noexcept;
    // What is written or read in a region, let in by its name. `writer`: the member whose data the
    // fabric writes there.
    static constexpr int nobody = -1;
    void begin_use(RegionName name, int writer = nobody) noexcept;
    void end_use(RegionName name, int writer = nobody) noexcept;
    /// Nothing of that member is written any more.
    void end_uses_of(int writer) noexcept;
    [[nodiscard]] std::uint64_t uses(RegionName name) const noexcept;

    /// Whether all bytes from `first` up to `last` are attached: in one region, or in several that
    /// touch.
    [[nodiscard]] bool covers(std::uint64_t first, std::uint64_t last) const noexcept;
    /// The one region that holds all of these addresses; empty: there is none.
    [[nodiscard]] AddressRange region_of(AddressRange wanted) const noexcept;
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    /// Changes with each region that is detached or withdrawn.
    [[nodiscard]] const std::atomic<std::uint64_t>& generation() const noexcept
    {
        return root_.generation;
    }

private:
    [[nodiscard]] bool overlaps(std::uint64_t first, std::uint64_t last,
                                std::uint64_t at) const noexcept;
    [[nodiscard]] std::uint64_t last_of(std::uint64_t at) const noexcept;
    Status grow() noexcept;
    Status take_slot(std::uint64_t& slot) noexcept;
    void fill(std::uint64_t slot, std::uint64_t first, std::uint64_t last,
              const std::optional<FileRange>& where) noexcept;
    [[nodiscard]] bool is_there(RegionName name) const noexcept;
    void begin_change() noexcept;
    void end_change() noexcept;
    void tell_keys() noexcept;
    void depart(std::uint64_t slot, std::uint64_t identity) noexcept;

    RegionTableRoot& root_;
    fabric::PeerMemory& memory_;
    RegionBlock block_;
    std::byte* data_ = nullptr; ///< of the block
    FileRange where_;
    std::uint64_t count_ = 0;
    std::uint64_t attached_ = 0;      ///< ever, those with a name included
    std::vector<std::uint64_t> free_; ///< slots; has room for all, so that giving back never fails
    struct Use {
        RegionName name;
        int writer;
        std::uint64_t uses;
    };
    [[nodiscard]] std::vector<Use>::iterator find_use(RegionName name, int writer) noexcept;
    std::vector<Use> used_; ///< regions with a name, each once for each writer; few at any time
};

} // namespace sidelight::rma
