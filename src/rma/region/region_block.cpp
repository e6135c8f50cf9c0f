// SPDX-License-Identifier: BSD-3-Clause
#include "rma/region/region_block.hpp"

namespace sidelight::rma {

RegionBlock::RegionBlock(std::byte* data, std::uint64_t capacity) noexcept
    : keys_(reinterpret_cast<Key*>(data)),
      slots_(reinterpret_cast<RegionSlot*>(data + capacity * sizeof(Key))),
      departures_(
          reinterpret_cast<Departure*>(data + capacity * (sizeof(Key) + sizeof(RegionSlot)))),
      capacity_(capacity)
{}

std::size_t RegionBlock::bytes(std::uint64_t capacity) noexcept
{
    return capacity * (sizeof(Key) + sizeof(RegionSlot)) + departures * sizeof(Departure);
}

void RegionBlock::move_key(std::uint64_t from, std::uint64_t to) const noexcept
{
    key(to).first.store(key(from).first.load(load_order), store_order);
    key(to).slot.store(key(from).slot.load(load_order), store_order);
}

void RegionBlock::open_gap(std::uint64_t at, std::uint64_t count) noexcept
{
    if (at < count - at) {
        --begin_;
        for (std::uint64_t to = 0; to < at; ++to) {
            move_key(to + 1, to);
        }
        return;
    }
    for (std::uint64_t to = count; to > at; --to) {
        move_key(to - 1, to);
    }
}

void RegionBlock::close_gap(std::uint64_t at, std::uint64_t count) noexcept
{
    if (at < count - 1 - at) {
        for (std::uint64_t to = at; to > 0; --to) {
            move_key(to - 1, to);
        }
        ++begin_;
        return;
    }
    for (std::uint64_t to = at; to < count - 1; ++to) {
        move_key(to + 1, to);
    }
}

std::uint64_t RegionBlock::not_above(std::uint64_t address, std::uint64_t count) const noexcept
{
    std::uint64_t low = 0;
    std::uint64_t high = count;
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (key(middle).first.load(load_order) <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

RegionRecord RegionBlock::record(std::uint64_t at) const noexcept
{
    const RegionSlot& slot = slots_[at];
    RegionRecord record{.identity = slot.identity.load(load_order),
                        .slot = at,
                        .first = slot.first.load(load_order),
                        .last = slot.last.load(load_order),
                        .where = std::nullopt};
    if (const std::uint64_t process = slot.process.load(load_order); process != 0) {
        record.where = FileRange{unpacked_file(process, slot.inode.load(load_order)),
                                 slot.offset.load(load_order), record.last - record.first};
        record.lasting = slot.lasting.load(load_order) != 0;
    }
    return record;
}

bool RegionBlock::reaches(std::uint64_t at, std::uint64_t count, std::uint64_t last) const noexcept
{
    std::uint64_t end = key(at).first.load(load_order);
    for (; at < count && key(at).first.load(load_order) == end; ++at) {
        const std::uint64_t slot = key(at).slot.load(load_order);
        end = slot < capacity_ ? slots_[slot].last.load(load_order) : end;
        if (end >= last) {
            return true;
        }
    }
    return false;
}

} // namespace sidelight::rma
