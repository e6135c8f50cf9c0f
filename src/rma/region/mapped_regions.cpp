// SPDX-License-Identifier: BSD-3-Clause
#include "rma/region/mapped_regions.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/cpu.hpp"

namespace sidelight::rma {

namespace {

/// How often a look-up starts again while the owner changes the table, which takes less while it
/// has a core.
constexpr int most_tries = 100'000;

} // namespace

MappedRegions::~MappedRegions()
{
    while (!known_.empty()) {
        forget(known_.begin());
    }
    if (block_data_ != nullptr) {
        memory_.unmap(block_data_, block_range_);
    }
}

bool MappedRegions::settled(std::uint64_t sequence) const noexcept
{
    return sequence % 2 == 0 && root_.sequence.load(load_order) == sequence;
}

/// Sees to it that the owner's newest block is mapped.
MappedRegions::Look MappedRegions::open_block() noexcept
{
    const std::uint64_t sequence = root_.sequence.load(load_order);
    const std::uint64_t capacity = root_.capacity.load(load_order);
    const FileRange range{
        unpacked_file(root_.process.load(load_order), root_.inode.load(load_order)),
        root_.offset.load(load_order), RegionBlock::bytes(capacity)};
    if (!settled(sequence)) {
        return Look::busy;
    }
    if (capacity == block_.capacity() && is_same_file(range.file, block_range_.file)) {
        return Look::found;
    }
    std::byte* data = capacity == 0 ? nullptr : memory_.map(range);
    if (data == nullptr && capacity != 0) { // perhaps because there is a newer one already
        return settled(sequence) ? Look::unreachable : Look::busy;
    }
    if (block_data_ != nullptr) {
        memory_.unmap(block_data_, block_range_);
    }
    block_data_ = data;
    block_range_ = range;
    block_ = data == nullptr ? RegionBlock() : RegionBlock(data, capacity);
    return Look::found;
}

/// What `read` answers of the newest block, when the owner has changed nothing meanwhile: else it
/// reads again. `busy`: the owner has stopped in a change.
template <class Read>
MappedRegions::Look MappedRegions::consistently(Read read) noexcept
{
    for (int tries = 0; tries < most_tries; ++tries) {
        const std::uint64_t sequence = root_.sequence.load(load_order);
        const Look opened = open_block();
        if (opened == Look::unreachable) {
            return opened;
        }
        if (opened == Look::found) {
            const Look answer = read();
            if (settled(sequence)) {
                return answer;
            }
        }
        relax_cpu();
    }
    return Look::busy;
}

MappedRegions::Look MappedRegions::look_up(std::uint64_t address, std::uint64_t bytes,
                                           RegionRecord& record) noexcept
{
    return consistently([&] {
        const std::uint64_t count = std::min(root_.count.load(load_order), block_.capacity());
        block_.begin_at(root_.begin.load(load_order));
        const std::uint64_t at = block_.not_above(address, count);
        const std::uint64_t slot = at == 0 ? 0 : block_.key(at - 1).slot.load(load_order);
        const bool there = at != 0 && slot < block_.capacity();
        record = there ? block_.record(slot) : RegionRecord();
        const bool held = there && record.last >= address && bytes <= record.last - address;
        const bool several = there && !held && bytes <= UINT64_MAX - address &&
                             block_.reaches(at - 1, count, address + bytes);
        return held ? Look::found : several ? Look::several : Look::none;
    });
}

/// What lies at the place of a name, whatever its own name is.
MappedRegions::Look MappedRegions::look_up(RegionName name, RegionRecord& record) noexcept
{
    return consistently([&] {
        const bool there = slot_of(name) < block_.capacity();
        record = there ? block_.record(slot_of(name)) : RegionRecord();
        return there ? Look::found : Look::none;
    });
}

/// Forgets what was detached since the last time. False: the owner has stopped in a change.
bool MappedRegions::refresh() noexcept
{
    const std::uint64_t generation = root_.generation.load(load_order);
    note({}, nullptr);
    if (!forget_departed(generation) && !forget_absent()) {
        return false;
    }
    generation_ = generation;
    return true;
}

/// By what the owner has written down of each. False: it has detached too many since the last time.
bool MappedRegions::forget_departed(std::uint64_t generation) noexcept
{
    const Look opened = consistently([] { return Look::found; });
    if (opened != Look::found || block_.capacity() == 0) {
        return false;
    }
    for (std::uint64_t at = generation_; at != generation; ++at) {
        const std::uint64_t first = block_.departure(at).first.load(load_order);
        const std::uint64_t identity = block_.departure(at).identity.load(load_order);
        if (root_.generation.load(load_order) - at >= RegionBlock::departures) {
            return false;
        }
        const auto region = known_.find(first);
        if (region != known_.end() && region->second.record.identity == identity) {
            forget(region);
        }
    }
    return true;
}

/// By looking each up. False: the owner has stopped in a change.
bool MappedRegions::forget_absent() noexcept
{
    for (auto region = known_.begin(); region != known_.end();) {
        const auto next = std::next(region);
        const RegionRecord& record = region->second.record;
        RegionRecord now;
        const Look look = look_up(record.first, record.last - record.first, now);
        if (look == Look::busy) {
            return false;
        }
        if (look != Look::found || now.identity != record.identity) {
            forget(region);
        }
        region = next;
    }
    return true;
}

void MappedRegions::forget(Regions::iterator region) noexcept
{
    if (region->second.extent != nullptr) {
        extents_.drop(*region->second.extent);
    }
    known_.erase(region);
}

/// Throws std::bad_alloc, with nothing changed.
const MappedRegions::Known& MappedRegions::learn(const RegionRecord& record)
{
    if (const auto stale = known_.find(record.first); stale != known_.end()) {
        forget(stale); // detached since `refresh`
    }
    const auto region = known_.emplace(record.first, Known{record, nullptr, nullptr}).first;
    if (!record.where) {
        return region->second;
    }
    try {
        region->second.extent = extents_.take(*record.where);
    } catch (const std::bad_alloc&) {
        known_.erase(region);
        throw;
    }
    const MappedExtent* extent = region->second.extent;
    region->second.data = extent != nullptr ? extent->at(*record.where) : nullptr;
    return region->second;
}

/// Where it is not open, `open_up_to` stays what it is, and nobody reads the rest.
void MappedRegions::note(const RegionRecord& record, const std::byte* data) noexcept
{
    latest_.first = record.first;
    latest_.last = record.last;
    latest_.generation = generation_;
    latest_.current = &root_.generation;
    latest_.shift = reinterpret_cast<std::uintptr_t>(data) - record.first;
    if (open_) {
        latest_.open_up_to.store(latest_.last, std::memory_order_release);
    }
}

MappedRegions::Found MappedRegions::answer(const Known& known, std::uint64_t address) noexcept
{
    if (known.data == nullptr) {
        return {Reach::messages, nullptr};
    }
    note(known.record, known.data);
    return {Reach::mapped, known.data + (address - known.record.first)};
}

MappedRegions::Found MappedRegions::find(std::uint64_t address, std::uint64_t bytes) noexcept
{
    if (!current() && !refresh()) {
        return {Reach::unknown, nullptr};
    }
    const auto after = known_.upper_bound(address);
    if (after != known_.begin()) {
        const Known& known = std::prev(after)->second;
        if (known.record.last >= address && bytes <= known.record.last - address) {
            return answer(known, address);
        }
    }
    RegionRecord record;
    const Look look = look_up(address, bytes, record);
    if (look != Look::found) {
        return {look == Look::none      ? Reach::none
                : look == Look::several ? Reach::messages
                                        : Reach::unknown,
                nullptr};
    }
    try {
        return answer(learn(record), address);
    } catch (const std::bad_alloc&) {
        return {Reach::messages, nullptr};
    }
}

/// Without memory for it, operations travel.
void MappedRegions::map(HandleRegion& region, const RegionRecord& record) noexcept
{
    if (region.data != nullptr || !record.where) {
        return;
    }
    try {
        MappedExtent* extent = extents_.take(*record.where);
        region.extent = extent;
        region.lasting = record.lasting;
        region.data = extent != nullptr ? extent->at(*record.where) : nullptr;
    } catch (const std::bad_alloc&) {
        region.data = nullptr;
    }
}

/// A handle may be made up: what the owner's table says counts.
MappedRegions::Found MappedRegions::find(HandleRegion& region) noexcept
{
    const std::uint64_t generation = root_.generation.load(std::memory_order_acquire);
    if (!rules::still_holds(region.found, generation)) {
        if (!current() && !refresh()) {
            return {Reach::unknown, nullptr};
        }
        RegionRecord record;
        const Look look = look_up(region.name, record);
        if (look == Look::busy || look == Look::unreachable) {
            return {Reach::unknown, nullptr};
        }
        region.there = look == Look::found && rules::is_named(record.identity, region.name) &&
                       record.first == region.first &&
                       record.last - record.first == region.all_bytes;
        region.found = generation;
        if (region.there) {
            map(region, record);
        }
        if (region.there && region.data != nullptr) {
            region.direct.store(generation, std::memory_order_release);
        }
    }
    return {!region.there            ? Reach::none
            : region.data != nullptr ? Reach::mapped
                                     : Reach::messages,
            region.data};
}

void MappedRegions::close(HandleRegion& region) noexcept
{
    if (MappedExtent* extent = std::exchange(region.extent, nullptr); extent != nullptr) {
        region.lasting ? extents_.keep(*extent) : extents_.drop(*extent);
    }
    region.data = nullptr;
    region.there = false;
    region.found = HandleRegion::never;
}

} // namespace sidelight::rma
