// SPDX-License-Identifier: BSD-3-Clause
#include "rma/operation/open_regions.hpp"

#include <new>
#include <utility>

#include "base/log.hpp"
#include "rma/region_rules.hpp"

namespace sidelight::rma {

namespace {

/// An owner may not be connected to this member yet when it is first asked.
constexpr int most_refusals = 4;

} // namespace

OpenRegions::~OpenRegions()
{
    for (const auto& page : pages_) {
        channels_.carrier().fabric().conceal(page->exposed);
    }
}

/// Null: the fabric does not open it to others.
OpenRegions::Page* OpenRegions::page_with_room()
{
    if (pages_.empty() || pages_.back()->used == pages_.back()->words.size()) {
        auto page = std::make_unique<Page>();
        pages_.reserve(pages_.size() + 1);
        const std::span<std::byte> bytes = std::as_writable_bytes(std::span(page->words));
        if (!channels_.carrier().fabric().expose(bytes, page->exposed)) {
            return nullptr;
        }
        pages_.push_back(std::move(page));
    }
    return pages_.back().get();
}

/// Throws std::bad_alloc.
OpenRegions::Owner& OpenRegions::owner_of(int rank)
{
    const auto [found, is_new] = owners_.try_emplace(rank);
    Owner& owner = found->second;
    if (is_new) {
        owner.closed = true; // until there is a word for it
        owner.page = page_with_room();
        if (owner.page != nullptr) {
            owner.word = owner.page->used++;
            owner.closed = false;
        }
    }
    return owner;
}

OpenRegion* OpenRegions::find(Channel& owner, AddressRange wanted) noexcept
try {
    if (wanted.empty() || !channels_.carrier().fabric().accesses(owner.peer)) {
        return nullptr;
    }
    Owner& known = owner_of(owner.rank);
    if (known.closed) {
        return nullptr;
    }
    if (const std::uint64_t told = known.told_now(); !rules::keys_are_current(told, known.told)) {
        forget(known);
        known.told = told;
    }
    const auto after = known.regions.upper_bound(wanted.first);
    if (after != known.regions.begin()) {
        OpenRegion& region = *std::prev(after)->second;
        if (region.range.holds(wanted)) {
            return &region;
        }
    }
    ask(owner, known, wanted);
    return nullptr;
} catch (const std::bad_alloc&) {
    return nullptr;
}

void OpenRegions::ask(Channel& owner, Owner& known, AddressRange wanted) noexcept
{
    if (std::exchange(known.asked, true)) {
        return;
    }
    const fabric::ExposedMemory& exposed = known.page->exposed;
    channels_.send(owner, MessageKind::region_request,
                   RegionRequestBody{.first = wanted.first,
                                     .last = wanted.last,
                                     .word = known.word * sizeof known.page->words[0]},
                   std::span(exposed.key).first(exposed.key_bytes));
}

/// One that was detached since is not taken, nor what was not asked for.
void OpenRegions::take(Channel& owner, const RegionKeyBody& body,
                       std::span<const std::byte> key) noexcept
try {
    const auto found = owners_.find(owner.rank);
    const AddressRange range{body.first, body.last};
    if (found == owners_.end() || !std::exchange(found->second.asked, false) || range.empty()) {
        return;
    }
    Owner& known = found->second;
    if (key.empty()) {
        known.closed = ++known.refusals == most_refusals;
        return;
    }
    known.refusals = 0;
    if (!rules::keys_are_current(known.told_now(), body.told)) {
        return;
    }
    if (known.told != body.told) {
        forget(known);
        known.told = body.told;
    }
    auto region = std::make_unique<OpenRegion>();
    region->range = range;
    region->memory = channels_.carrier().fabric().open(owner.peer, key);
    known.closed = region->memory == nullptr;
    if (!known.closed) {
        known.opened = true;
        known.regions.try_emplace(range.first, std::move(region));
    }
} catch (const std::bad_alloc&) {
    log(LogLevel::warn, "out of memory: a region of rank %d is reached by messages", owner.rank);
}

void OpenRegions::forget(Owner& owner) noexcept
{
    for (auto& [first, region] : owner.regions) {
        if (region->pending != 0) {
            region.release()->forgotten = true;
        }
    }
    owner.regions.clear();
}

void OpenRegions::leave(OpenRegion& region) noexcept
{
    if (--region.pending == 0 && region.forgotten) {
        delete &region;
    }
}

bool OpenRegions::has_opened(int rank) const noexcept
{
    const auto found = owners_.find(rank);
    return found != owners_.end() && found->second.opened;
}

} // namespace sidelight::rma
