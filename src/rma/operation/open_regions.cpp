// SPDX-License-Identifier: BSD-3-Clause
#include "rma/operation/open_regions.hpp"

#include <new>

namespace sidelight::rma {

OpenRegions::~OpenRegions()
{
    while (!open_.empty()) {
        forget(*open_.front());
    }
}

OpenRegion* OpenRegions::open(const RegionShape& shape) noexcept
{
    auto* region = new (std::nothrow) OpenRegion;
    if (region == nullptr) {
        return nullptr;
    }
    region->name = shape.name;
    region->rank = shape.rank;
    region->first = shape.first;
    region->all_bytes = shape.all_bytes;
    region->size = shape.size;
    region->disp_unit = shape.disp_unit;
    if (shape.rank == rank_) {
        region->current = &memory_.attached()->generation();
    } else if (const MappedRegions* regions = targets_[shape.rank].regions; regions != nullptr) {
        region->current = &regions->generation();
    }
    region->in = this;
    open_.push(region);
    return region;
}

void OpenRegions::drop(OpenRegion& region) noexcept
{
    if (--region.users != 0) {
        return;
    }
    if (region.in != nullptr) {
        region.in->forget(region);
    }
    delete &region;
}

void OpenRegions::forget(OpenRegion& region) noexcept
{
    if (MappedRegions* regions = targets_[region.rank].regions; regions != nullptr) {
        regions->close(region);
    }
    open_.remove(&region);
    region.in = nullptr;
}

} // namespace sidelight::rma
