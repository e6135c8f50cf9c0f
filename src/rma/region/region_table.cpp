// SPDX-License-Identifier: BSD-3-Clause
#include "rma/region/region_table.hpp"

#include <algorithm>
#include <limits>
#include <new>

#include "rma/handle_rules.hpp"

namespace sidelight::rma {

namespace {

constexpr std::uint64_t first_capacity = 64;

std::uint64_t start_of(const std::byte* base) noexcept
{
    return reinterpret_cast<std::uint64_t>(base);
}

} // namespace

RegionTable::~RegionTable()
{
    if (data_ != nullptr) {
        begin_change();
        root_.capacity.store(0, store_order);
        root_.count.store(0, store_order);
        end_change();
        root_.generation.fetch_add(1, store_order);
        memory_.destroy(data_, where_);
    }
}

/// What readers load between two equal even numbers belongs together. Stores of the words between
/// are releases, so that none is seen before the odd number; their loads are acquires.
void RegionTable::begin_change() noexcept
{
    root_.sequence.store(root_.sequence.load(std::memory_order_relaxed) + 1, store_order);
}

void RegionTable::end_change() noexcept { begin_change(); }

std::uint64_t RegionTable::last_of(std::uint64_t at) const noexcept
{
    return block_.slot(block_.key(at).slot.load(load_order)).last.load(load_order);
}

/// `at`: regions that do not start above `first`.
bool RegionTable::overlaps(std::uint64_t first, std::uint64_t last, std::uint64_t at) const noexcept
{
    if (at < count_ && block_.key(at).first.load(load_order) < last) {
        return true;
    }
    return at > 0 &&
           (last_of(at - 1) > first || block_.key(at - 1).first.load(load_order) == first);
}

/// How many there are, and where.
void RegionTable::tell_keys() noexcept
{
    root_.count.store(count_, store_order);
    root_.begin.store(block_.begin(), store_order);
}

/// Goes on in a block of twice the size. Readers that are still in the old one find that the
/// sequence has changed.
Status RegionTable::grow() noexcept
{
    const std::uint64_t capacity = block_.capacity() == 0 ? first_capacity : block_.capacity() * 2;
    FileRange where;
    if (capacity > most_region_slots) {
        return Status::no_memory;
    }
    try {
        free_.reserve(capacity);
    } catch (const std::bad_alloc&) {
        return Status::no_memory;
    }
    std::byte* data = memory_.make(RegionBlock::bytes(capacity), where);
    if (data == nullptr) {
        return Status::no_memory;
    }
    const RegionBlock old = block_;
    block_ = RegionBlock(data, capacity);
    for (std::uint64_t at = 0; at < count_; ++at) {
        block_.key(at).first.store(old.key(at).first.load(load_order), store_order);
        block_.key(at).slot.store(old.key(at).slot.load(load_order), store_order);
    }
    for (std::uint64_t at = 0; at < old.capacity(); ++at) {
        const RegionSlot& from = old.slot(at);
        RegionSlot& to = block_.slot(at);
        to.identity.store(from.identity.load(load_order), store_order);
        to.first.store(from.first.load(load_order), store_order);
        to.last.store(from.last.load(load_order), store_order);
        to.process.store(from.process.load(load_order), store_order);
        to.inode.store(from.inode.load(load_order), store_order);
        to.offset.store(from.offset.load(load_order), store_order);
        to.lasting.store(from.lasting.load(load_order), store_order);
    }
    for (std::uint64_t gone = 0; old.capacity() != 0 && gone < RegionBlock::departures; ++gone) {
        RegionBlock::Departure& to = block_.departure(gone);
        to.first.store(old.departure(gone).first.load(load_order), store_order);
        to.identity.store(old.departure(gone).identity.load(load_order), store_order);
    }
    for (std::uint64_t slot = capacity; slot-- > old.capacity();) {
        free_.push_back(slot);
    }
    begin_change();
    root_.process.store(packed_process(where.file), store_order);
    root_.inode.store(where.file.inode, store_order);
    root_.offset.store(where.offset, store_order);
    root_.capacity.store(capacity, store_order);
    tell_keys();
    end_change();
    if (data_ != nullptr) {
        memory_.destroy(data_, where_);
    }
    data_ = data;
    where_ = where;
    return Status::ok;
}

Status RegionTable::take_slot(std::uint64_t& slot) noexcept
{
    if (free_.empty()) {
        if (const Status status = grow(); status != Status::ok) {
            return status;
        }
    }
    slot = free_.back();
    free_.pop_back();
    return Status::ok;
}

/// All but its identity, which comes last.
void RegionTable::fill(std::uint64_t slot, std::uint64_t first, std::uint64_t last,
                       const std::optional<FileRange>& where) noexcept
{
    RegionSlot& words = block_.slot(slot);
    words.first.store(first, store_order);
    words.last.store(last, store_order);
    words.process.store(where ? packed_process(where->file) : 0, store_order);
    words.inode.store(where ? where->file.inode : 0, store_order);
    words.offset.store(where ? where->offset : 0, store_order);
}

Status RegionTable::expose(const std::byte* base, std::size_t size,
                           const std::optional<FileRange>& where, bool lasting,
                           RegionName& name) noexcept
{
    const std::uint64_t first = start_of(base);
    const std::uint64_t last = first + size;
    if (last < first) {
        return Status::size;
    }
    std::uint64_t slot = 0;
    if (const Status status = take_slot(slot); status != Status::ok) {
        return status;
    }
    begin_change();
    fill(slot, first, last, where);
    block_.slot(slot).lasting.store(lasting ? 1 : 0, store_order);
    name = region_name(++attached_, slot);
    block_.slot(slot).identity.store(name, store_order);
    end_change();
    return Status::ok;
}

bool RegionTable::is_there(RegionName name) const noexcept
{
    const std::uint64_t slot = slot_of(name);
    return slot < block_.capacity() &&
           rules::is_named(block_.slot(slot).identity.load(load_order), name);
}

/// Nobody finds it there any more.
void RegionTable::depart(std::uint64_t slot, std::uint64_t identity) noexcept
{
    const std::uint64_t generation = root_.generation.load(std::memory_order_relaxed);
    RegionBlock::Departure& gone = block_.departure(generation);
    gone.first.store(block_.slot(slot).first.load(load_order), store_order);
    gone.identity.store(identity, store_order);
    root_.generation.store(generation + 1, store_order);
    free_.push_back(slot);
}

Status RegionTable::withdraw(RegionName name) noexcept
{
    if ((name & named_mark) == 0 || !is_there(name)) {
        return Status::argument;
    }
    begin_change();
    block_.slot(slot_of(name)).identity.store(0, store_order);
    end_change();
    depart(slot_of(name), name);
    return Status::ok;
}

bool RegionTable::holds(RegionName name, std::uint64_t first, std::uint64_t last) const noexcept
{
    if ((name & named_mark) == 0 || last < first || !is_there(name)) {
        return false;
    }
    const RegionSlot& words = block_.slot(slot_of(name));
    return words.first.load(load_order) <= first && last <= words.last.load(load_order);
}

std::vector<RegionTable::Use>::iterator RegionTable::find_use(RegionName name, int writer) noexcept
{
    return std::find_if(used_.begin(), used_.end(),
                        [&](const Use& use) { return use.name == name && use.writer == writer; });
}

/// Without memory for it, who releases the region does not wait for this one.
void RegionTable::begin_use(RegionName name, int writer) noexcept
{
    if (const auto use = find_use(name, writer); use != used_.end()) {
        ++use->uses;
        return;
    }
    try {
        used_.push_back({name, writer, 1});
    } catch (const std::bad_alloc&) {
        return;
    }
}

void RegionTable::end_use(RegionName name, int writer) noexcept
{
    const auto use = find_use(name, writer);
    if (use != used_.end() && --use->uses == 0) {
        *use = used_.back();
        used_.pop_back();
    }
}

void RegionTable::end_uses_of(int writer) noexcept
{
    std::erase_if(used_, [&](const Use& use) { return use.writer == writer; });
}

std::uint64_t RegionTable::uses(RegionName name) const noexcept
{
    std::uint64_t uses = 0;
    for (const Use& use : used_) {
        uses += use.name == name ? use.uses : 0;
    }
    return uses;
}

Status RegionTable::attach(const std::byte* base, std::size_t size,
                           const std::optional<FileRange>& where) noexcept
{
    const std::uint64_t first = start_of(base);
    const std::uint64_t last = first + size;
    if (last < first) {
        return Status::size;
    }
    const std::uint64_t at = block_.not_above(first, count_);
    if (overlaps(first, last, at)) {
        return Status::rma_attach;
    }
    std::uint64_t slot = 0;
    if (const Status status = take_slot(slot); status != Status::ok) {
        return status;
    }
    begin_change();
    fill(slot, first, last, where);
    block_.slot(slot).identity.store(++attached_, store_order);
    block_.open_gap(at, count_);
    block_.key(at).first.store(first, store_order);
    block_.key(at).slot.store(slot, store_order);
    ++count_;
    tell_keys();
    end_change();
    return Status::ok;
}

Status RegionTable::detach(const std::byte* base) noexcept
{
    const std::uint64_t first = start_of(base);
    const std::uint64_t after = block_.not_above(first, count_);
    if (after == 0 || block_.key(after - 1).first.load(load_order) != first) {
        return Status::base;
    }
    const std::uint64_t slot = block_.key(after - 1).slot.load(load_order);
    const std::uint64_t identity = block_.slot(slot).identity.load(load_order);
    begin_change();
    block_.slot(slot).identity.store(0, store_order);
    block_.close_gap(after - 1, count_);
    --count_;
    tell_keys();
    end_change();
    depart(slot, identity);
    return Status::ok;
}

AddressRange RegionTable::region_of(AddressRange wanted) const noexcept
{
    const std::uint64_t after = block_.not_above(wanted.first, count_);
    if (after == 0 || wanted.empty()) {
        return {};
    }
    const AddressRange found{block_.key(after - 1).first.load(load_order), last_of(after - 1)};
    return found.holds(wanted) ? found : AddressRange{};
}

bool RegionTable::covers(std::uint64_t first, std::uint64_t last) const noexcept
{
    const std::uint64_t at = block_.not_above(first, count_);
    return at > 0 && block_.reaches(at - 1, count_, last);
}

} // namespace sidelight::rma
