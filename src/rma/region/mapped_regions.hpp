// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "fabric/peer_memory.hpp"
#include "rma/region/handle_region.hpp"
#include "rma/region/latest_region.hpp"
#include "rma/region/mapped_extents.hpp"
#include "rma/region/region_table.hpp"

namespace sidelight::rma {

/// What this process knows of the regions that one member has attached, and has mapped of them. It
/// is never stale: every detach changes the owner's generation, which each access compares.
/// Needs the engine.
class MappedRegions {
public:
    /// All must outlive it. What it finds is noted in `latest`, to be reached directly if `open`
    /// says so. While it does, only the thread that reads `latest` may make calls that find.
    MappedRegions(const RegionTableRoot& root, fabric::PeerMemory& memory, LatestRegion& latest,
                  const bool& open) noexcept
        : root_(root), memory_(memory), latest_(latest), open_(open), extents_(memory)
    {}
    ~MappedRegions();
    MappedRegions(const MappedRegions&) = delete;
    MappedRegions& operator=(const MappedRegions&) = delete;

    enum class Reach : std::uint8_t {
        mapped,   ///< `data` is it
        messages, ///< attached, but not mappable here, or in several regions that touch
        unknown,  ///< the owner's table cannot be read here, or the owner has stopped in a change
        none,     ///< not attached as a whole: Status::rma_range
    };
    struct Found {
        Reach reach;
        std::byte* data;
    };

    /// Whether what was found still holds: one load.
    [[nodiscard]] bool current() const noexcept
    {
        return root_.generation.load(std::memory_order_acquire) == generation_;
    }
    /// Looks up, and maps what is new. What was detached since the last call is unmapped. Throws
    /// nothing: without memory for its notes it answers `messages`, of what is attached.
    [[nodiscard]] Found find(std::uint64_t address, std::uint64_t bytes) noexcept;

    /// The same for a region of the member that a memory handle names: `data` is its first byte. It
    /// stays mapped until it is closed.
    [[nodiscard]] Found find(HandleRegion& region) noexcept;
    /// Whoever has opened it needs it no more.
    void close(HandleRegion& region) noexcept;
    [[nodiscard]] const std::atomic<std::uint64_t>& generation() const noexcept
    {
        return root_.generation;
    }

private:
    struct Known {
        RegionRecord record;
        std::byte* data;      ///< null: by messages
        MappedExtent* extent; ///< null: none
    };
    using Regions = std::map<std::uint64_t, Known>;
    enum class Look : std::uint8_t {
        found,
        several, ///< in regions that touch; the record is of the first
        none,
        busy,
        unreachable, ///< the table itself cannot be mapped
    };

    bool refresh() noexcept;
    [[nodiscard]] bool forget_departed(std::uint64_t generation) noexcept;
    [[nodiscard]] bool forget_absent() noexcept;
    Look open_block() noexcept;
    Look look_up(std::uint64_t address, std::uint64_t bytes, RegionRecord& record) noexcept;
    [[nodiscard]] bool settled(std::uint64_t sequence) const noexcept;
    template <class Read>
    Look consistently(Read read) noexcept;
    Look look_up(RegionName name, RegionRecord& record) noexcept;
    const Known& learn(const RegionRecord& record);
    void map(HandleRegion& region, const RegionRecord& record) noexcept;
    void forget(Regions::iterator region) noexcept;
    Found answer(const Known& known, std::uint64_t address) noexcept;
    void note(const RegionRecord& record, const std::byte* data) noexcept;

    const RegionTableRoot& root_;
    fabric::PeerMemory& memory_;
    LatestRegion& latest_;
    const bool& open_;
    std::uint64_t generation_ = 0;

    RegionBlock block_; ///< as it was mapped last
    FileRange block_range_;
    std::byte* block_data_ = nullptr;
    Regions known_; ///< by first address
    MappedExtents extents_;
};

} // namespace sidelight::rma
