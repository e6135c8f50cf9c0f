// SPDX-License-Identifier: BSD-3-Clause
#include "rma/operation/destination.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "datatype/cursor.hpp"
#include "rma/accumulate/transfer.hpp"
#include "rma/active/call.hpp"

namespace sidelight::rma {

namespace {

/// MPI_Aint displacements and layout bounds stay below this, so their sums cannot overflow.
constexpr std::int64_t address_limit = std::int64_t{1} << 62;

/// Whether a side of an accumulate is there and made of other elements than the target.
bool differs(const datatype::Buffer& side, const datatype::Layout& target) noexcept
{
    return side.layout != nullptr && side.layout->basic != target.basic;
}

/// Whether each byte of it is attached here. What lies between them need not be.
bool holds_each_piece(const OwnMemory& own, const datatype::Buffer& touched) noexcept
{
    datatype::Cursor cursor(touched);
    for (; !cursor.at_end(); cursor.advance(cursor.piece().length)) {
        const datatype::Piece piece = cursor.piece();
        if (own.find(reinterpret_cast<std::uintptr_t>(piece.address), piece.length) == nullptr) {
            return false;
        }
    }
    return true;
}

/// In a dynamic window: what this member has attached, or what one on this node has and can be
/// mapped. What is touched from `first` to `last`, if there may be holes that need not be attached,
/// the owner looks up piece by piece where no region holds all of it.
Status locate_region(const Operation& operation, const Target& target, const OwnMemory& own,
                     bool is_own, std::uint64_t first, std::uint64_t last,
                     Destination& destination) noexcept
{
    const bool has_holes = !operation.layout->contiguous; // or none: then its pieces are refused
    if (is_own) {
        const bool there =
            own.find(first, last - first) != nullptr ||
            (has_holes &&
             holds_each_piece(own, {destination.memory, operation.layout, operation.count}));
        return there ? Status::ok : Status::rma_range;
    }
    if (target.regions == nullptr) {
        return Status::ok;
    }
    const MappedRegions::Found found = target.regions->find(first, last - first);
    switch (found.reach) {
    case MappedRegions::Reach::mapped:
        destination.mapped = true;
        destination.memory = found.data + (destination.address - first);
        return Status::ok;
    case MappedRegions::Reach::none:
        return has_holes ? Status::ok : Status::rma_range;
    case MappedRegions::Reach::messages:
        destination.checked = true;
        return Status::ok;
    case MappedRegions::Reach::unknown:
        break;
    }
    return Status::ok;
}

/// The region that a memory handle names: that of this member, or of one on this node.
Status locate_named(HandleRegion& region, const Target& target, const OwnMemory& own, bool is_own,
                    Destination& destination) noexcept
{
    MappedRegions::Found found{MappedRegions::Reach::unknown, nullptr};
    if (is_own) {
        const bool there = own.find(region);
        found = {there ? MappedRegions::Reach::mapped : MappedRegions::Reach::none, region.data};
    } else if (target.regions != nullptr) {
        found = target.regions->find(region);
    }
    destination.mapped = found.reach == MappedRegions::Reach::mapped;
    destination.memory =
        destination.mapped ? found.data + (destination.address - region.first) : nullptr;
    destination.checked = found.reach == MappedRegions::Reach::messages;
    return found.reach == MappedRegions::Reach::none ? Status::rma_range : Status::ok;
}

/// Where displacements count from, how far they reach, and in which units.
struct Scale {
    std::uint64_t first = 0;
    std::uint64_t size = 0;
    std::int64_t unit = 1;
    bool dynamic = false; ///< they are addresses
};

Scale scale_of(const Operation& operation, const Target& target, const OwnMemory& own) noexcept
{
    if (const HandleRegion* region = operation.region; region != nullptr) {
        return {.first = region->first, .size = region->size, .unit = region->disp_unit};
    }
    return {.size = target.size,
            .unit = static_cast<std::int64_t>(target.disp_unit),
            .dynamic = own.is_dynamic()};
}

} // namespace

Status locate(const Operation& operation, const Target& target, const OwnMemory& own, bool is_own,
              bool granted, Destination& destination) noexcept
{
    const Scale scale = scale_of(operation, target, own);
    if (operation.displacement < 0 && !scale.dynamic) {
        return Status::disp;
    }
    const datatype::Extent touched = datatype::touched(*operation.layout, operation.count);
    std::int64_t offset = 0;
    if (__builtin_mul_overflow(operation.displacement, scale.unit, &offset)) {
        return Status::rma_range;
    }
    destination.address = scale.first + static_cast<std::size_t>(offset);
    destination.mapped = target.mapped;
    destination.memory = displaced(target.base, static_cast<std::ptrdiff_t>(destination.address));
    if (touched.overflow) {
        return Status::rma_range;
    }
    if (touched.first == touched.last) {
        destination.checked = true;
        // A dynamic window: nothing is touched, but its lock of rows and its counters may be.
        destination.mapped = target.mapped || (own.is_dynamic() && target.accumulates != nullptr);
        return Status::ok;
    }
    if (offset > address_limit || offset < -address_limit || touched.first < -address_limit ||
        touched.last > address_limit) {
        return Status::rma_range;
    }
    const std::int64_t first = offset + touched.first;
    const std::int64_t last = offset + touched.last;
    const bool inside = first >= 0 && static_cast<std::uint64_t>(last) <= scale.size;
    if (!scale.dynamic && !inside) {
        return Status::rma_range;
    }
    if (own.is_dynamic() && !granted) {
        destination.mapped = false;
        return Status::ok;
    }
    if (operation.region != nullptr) {
        return locate_named(*operation.region, target, own, is_own, destination);
    }
    if (scale.dynamic) {
        return locate_region(operation, target, own, is_own, static_cast<std::uint64_t>(first),
                             static_cast<std::uint64_t>(last), destination);
    }
    destination.checked = true;
    return Status::ok;
}

namespace {

Status check_active(const ActiveCall& call) noexcept
{
    const bool too_large = room_of(call, std::max<std::uint64_t>(call.segments, 1)).overflow;
    return too_large ? Status::count : Status::ok;
}

} // namespace

Status check_operands(const Operation& operation) noexcept
{
    if (operation.kind == OperationKind::active_message) {
        return check_active(*operation.active);
    }
    const bool reduces = operation.kind == OperationKind::accumulate;
    if (reduces && !reduction(operation.reduce, operation.layout->basic).plain &&
        data_bytes(operation) != 0) {
        return operation.layout->basic == datatype::Basic::none ? Status::type : Status::op;
    }
    if (operation.kind == OperationKind::compare_and_swap) {
        return can_compare_and_swap(operation.layout->basic) ? Status::ok : Status::type;
    }
    const bool origin_counts = !reduces || operation.reduce != ReduceOp::no_op;
    if (reduces && data_bytes(operation) != 0 &&
        ((origin_counts && differs(operation.origin, *operation.layout)) ||
         differs(operation.result, *operation.layout))) {
        return Status::type;
    }
    if (origin_counts && operation.origin.bytes() > data_bytes(operation)) {
        return Status::rma_range;
    }
    if (origin_counts && operation.origin.bytes() != data_bytes(operation)) {
        return Status::count;
    }
    if (operation.result.layout != nullptr && operation.result.bytes() != data_bytes(operation)) {
        return Status::count;
    }
    return Status::ok;
}

} // namespace sidelight::rma
