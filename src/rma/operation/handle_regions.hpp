// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/operation/active_messages.hpp"
#include "rma/operation/mapped.hpp"
#include "rma/region/own_memory.hpp"

namespace sidelight::rma {

/// What a memory handle says of its region, and what its window is to reach of it.
struct RegionShape {
    RegionName name = no_region;
    int rank = 0;                ///< of its owner, a member that was met
    std::uint64_t first = 0;     ///< address there
    std::uint64_t all_bytes = 0; ///< of the region
    std::uint64_t size = 0;      ///< bytes from the first on that may be reached
    std::int64_t disp_unit = 1;
};

/// Memory handles of a dynamic window (P2, section 4.2): the regions of this member that they name,
/// and those that this process has opened. All calls are local. Guarded by the engine.
class HandleRegions {
public:
    struct Setting {
        Target* targets;
        int rank; ///< of this member
        OwnMemory& memory;
        ActiveMessages& active;
        Accumulates& accumulates;
        Mapped& mapped; ///< of the window
    };
    explicit HandleRegions(const Setting& setting) noexcept : with_(setting) {}
    /// Those that are still open reach nothing any more.
    ~HandleRegions();
    HandleRegions(const HandleRegions&) = delete;
    HandleRegions& operator=(const HandleRegions&) = delete;

    /// Lets others reach memory of this process by a name, whatever is attached there. `lasting`:
    /// see RegionTable. Status::rma_flavor if the window is not dynamic.
    Status expose(std::byte* base, std::size_t size, const std::optional<FileRange>& where,
                  bool lasting, RegionName& name) noexcept;
    /// Ends that: nothing new is let in, and no handler begins there. Status::argument if there is
    /// no such region.
    Status withdraw(RegionName name) noexcept;
    /// Whether the fabric, or a handler, is still at what was let in before.
    [[nodiscard]] bool is_used(RegionName name) const noexcept;

    /// With one user. Asks nobody: an owner may have released it. `direct`: the direct path of its
    /// window, which lives as long.
    Status open(const RegionShape& shape, Mapped& direct, HandleRegion*& region) noexcept;
    /// One user less. Also when the window is gone.
    static void drop(HandleRegion& region) noexcept;

private:
    void forget(HandleRegion& region) noexcept;

    Setting with_;
    List<HandleRegion, &HandleRegion::among> open_;
};

} // namespace sidelight::rma
