// SPDX-License-Identifier: BSD-3-Clause
#include "rma/region/mapped_extents.hpp"

#include <memory>

#include "base/bytes.hpp"
#include "rma/region/region_table.hpp"

namespace sidelight::rma {

namespace {

/// Files are mapped in stretches that begin and end at multiples of this, so that thousands of
/// small regions that lie together take one mapping. Where that cannot be, they are mapped alone.
constexpr std::uint64_t stretch = std::uint64_t{64} << 20;

/// Extents without users that stay mapped.
constexpr std::size_t most_spare = 4;

bool holds(const FileRange& extent, const FileRange& where) noexcept
{
    return is_same_file(extent.file, where.file) && extent.offset <= where.offset &&
           where.offset + where.bytes <= extent.offset + extent.bytes;
}

} // namespace

MappedExtents::~MappedExtents()
{
    while (!all_.empty()) {
        unmap(*all_.front());
    }
}

MappedExtent* MappedExtents::take(const FileRange& where)
{
    for (MappedExtent* extent = all_.front(); extent != nullptr;
         extent = decltype(all_)::after(*extent)) {
        if (holds(extent->range, where)) {
            spare_ -= extent->users == 0 ? 1 : 0;
            ++extent->users;
            return extent;
        }
    }
    const std::uint64_t first = where.offset & ~(stretch - 1);
    const std::uint64_t bytes = round_up(where.offset + where.bytes - first, stretch);
    auto extent = std::make_unique<MappedExtent>();
    for (const FileRange& range : {FileRange{where.file, first, bytes}, where}) {
        extent->range = range;
        extent->data = memory_.map(range);
        if (extent->data != nullptr) {
            break;
        }
    }
    if (extent->data == nullptr) {
        return nullptr;
    }
    extent->users = 1;
    all_.push(extent.get());
    return extent.release();
}

void MappedExtents::drop(MappedExtent& extent) noexcept
{
    if (--extent.users == 0) {
        unmap(extent);
    }
}

void MappedExtents::keep(MappedExtent& extent) noexcept
{
    if (--extent.users != 0) {
        return;
    }
    all_.remove(&extent); // the one that is needed last comes last
    all_.push(&extent);
    if (++spare_ <= most_spare) {
        return;
    }
    MappedExtent* oldest = all_.front();
    while (oldest->users != 0) {
        oldest = decltype(all_)::after(*oldest);
    }
    --spare_;
    unmap(*oldest);
}

void MappedExtents::unmap(MappedExtent& extent) noexcept
{
    all_.remove(&extent);
    memory_.unmap(extent.data, extent.range);
    delete &extent;
}

} // namespace sidelight::rma
