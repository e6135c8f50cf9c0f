// SPDX-License-Identifier: BSD-3-Clause
#include "rma/operation/handle_regions.hpp"

#include <new>

namespace sidelight::rma {

HandleRegions::~HandleRegions()
{
    while (!open_.empty()) {
        forget(*open_.front());
    }
}

Status HandleRegions::expose(std::byte* base, std::size_t size,
                             const std::optional<FileRange>& where, bool lasting,
                             RegionName& name) noexcept
{
    RegionTable* attached = with_.memory.attached();
    return attached != nullptr ? attached->expose(base, size, where, lasting, name)
                               : Status::rma_flavor;
}

Status HandleRegions::withdraw(RegionName name) noexcept
{
    RegionTable* attached = with_.memory.attached();
    const Status status = attached != nullptr ? attached->withdraw(name) : Status::rma_flavor;
    if (status == Status::ok) {
        with_.active.target.refuse_region(name);
        with_.active.here.refuse_region(name);
    }
    return status;
}

bool HandleRegions::is_used(RegionName name) const noexcept
{
    return !rules::region_is_free(with_.memory.attached()->uses(name)) ||
           with_.active.here.runs_in(name);
}

Status HandleRegions::open(const RegionShape& shape, Mapped& direct, HandleRegion*& region) noexcept
{
    if (!with_.memory.is_dynamic()) {
        return Status::rma_flavor;
    }
    region = new (std::nothrow) HandleRegion;
    if (region == nullptr) {
        return Status::no_memory;
    }
    region->name = shape.name;
    region->rank = shape.rank;
    region->first = shape.first;
    region->all_bytes = shape.all_bytes;
    region->size = shape.size;
    region->disp_unit = shape.disp_unit;
    if (shape.rank == with_.rank) {
        region->current = &with_.memory.attached()->generation();
    } else if (const MappedRegions* regions = with_.targets[shape.rank].regions;
               regions != nullptr) {
        region->current = &regions->generation();
    }
    region->in = this;
    open_.push(region);
    with_.mapped.expect_untold();
    direct.begin_region(with_.targets, with_.accumulates, *region);
    return Status::ok;
}

void HandleRegions::drop(HandleRegion& region) noexcept
{
    if (--region.users != 0) {
        return;
    }
    if (region.in != nullptr) {
        region.in->forget(region);
    }
    delete &region;
}

void HandleRegions::forget(HandleRegion& region) noexcept
{
    if (MappedRegions* regions = with_.targets[region.rank].regions; regions != nullptr) {
        regions->close(region);
    }
    open_.remove(&region);
    region.in = nullptr;
}

} // namespace sidelight::rma
