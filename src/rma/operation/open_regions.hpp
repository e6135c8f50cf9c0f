// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/operation/target.hpp"
#include "rma/region/open_region.hpp"
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

/// The regions of one window that this process has opened, with the windows of memory handles.
/// Guarded by the engine.
class OpenRegions {
public:
    OpenRegions(Target* targets, int rank, OwnMemory& memory) noexcept
        : targets_(targets), rank_(rank), memory_(memory)
    {}
    /// Those that are still open reach nothing any more.
    ~OpenRegions();
    OpenRegions(const OpenRegions&) = delete;
    OpenRegions& operator=(const OpenRegions&) = delete;

    /// With one user. Asks nobody: an owner may have released it. Null: no memory.
    [[nodiscard]] OpenRegion* open(const RegionShape& shape) noexcept;
    /// One user less. Also when the window is gone.
    static void drop(OpenRegion& region) noexcept;

private:
    void forget(OpenRegion& region) noexcept;

    Target* targets_;
    int rank_; ///< of this member
    OwnMemory& memory_;
    List<OpenRegion, &OpenRegion::among> open_;
};

} // namespace sidelight::rma
