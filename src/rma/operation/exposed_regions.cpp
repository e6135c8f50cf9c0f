// SPDX-License-Identifier: BSD-3-Clause
#include "rma/operation/exposed_regions.hpp"

#include <new>
#include <utility>

#include "base/log.hpp"
#include "rma/region_rules.hpp"

namespace sidelight::rma {

ExposedRegions::~ExposedRegions()
{
    for (const auto& [first, region] : regions_) {
        channels_.carrier().fabric().conceal(region->exposed);
    }
}

/// Null: it cannot be told of a detach, so it gets no key; once something has been sent to it,
/// perhaps it can.
ExposedRegions::Holder* ExposedRegions::holder_of(Channel& from, const RegionRequestBody& body,
                                                  std::span<const std::byte> key)
{
    if (key.empty() || body.word % sizeof(std::uint64_t) != 0 || body.word >= told_bytes) {
        return nullptr;
    }
    Holder& holder = holders_[from.rank];
    if (holder.words == nullptr) {
        holder.words = channels_.carrier().fabric().open(from.peer, key);
        holder.word = body.word;
    }
    return holder.words != nullptr ? &holder : nullptr;
}

ExposedRegions::Region& ExposedRegions::expose(AddressRange range)
{
    if (const auto found = regions_.find(range.first); found != regions_.end()) {
        return *found->second;
    }
    auto made = std::make_unique<Region>(); // no entry without one
    Region& region = *regions_.emplace(range.first, std::move(made)).first->second;
    const std::span<std::byte> bytes(reinterpret_cast<std::byte*>(range.first),
                                     range.last - range.first);
    if (!channels_.carrier().fabric().expose(bytes, region.exposed)) {
        region.exposed.key_bytes = 0;
    }
    return region;
}

void ExposedRegions::serve(Channel& from, const RegionRequestBody& body,
                           std::span<const std::byte> key) noexcept
{
    RegionTable* attached = memory_.attached();
    const AddressRange range =
        attached != nullptr ? attached->region_of({body.first, body.last}) : AddressRange{};
    RegionKeyBody answer{.first = range.first, .last = range.last};
    std::span<const std::byte> opens;
    try {
        Holder* holder = range.empty() ? nullptr : holder_of(from, body, key);
        if (holder != nullptr) {
            Region& region = expose(range);
            Withdrawal& withdrawal = region.keys[from.rank];
            withdrawal.owner = this;
            withdrawal.region = &region;
            withdrawal.holder = holder;
            withdrawal.finished = told;
            answer.told = holder->told;
            opens = std::span(region.exposed.key).first(region.exposed.key_bytes);
        }
    } catch (const std::bad_alloc&) {
        log(LogLevel::warn, "out of memory: rank %d reaches what is attached by messages",
            from.rank);
    }
    channels_.send(from, MessageKind::region_key, answer, opens);
}

/// Two that are under way to one member at once may land in either order: then it takes no keys
/// until it is told of the next, and none that is stale.
void ExposedRegions::withdraw(const std::byte* base, Request* request) noexcept
{
    const auto found = regions_.find(reinterpret_cast<std::uintptr_t>(base));
    if (found == regions_.end()) {
        finish(request);
        return;
    }
    Region& region = *found->second.release(); // deleted when all have been told
    regions_.erase(found);
    region.detached = request;
    region.untold = region.keys.size() + 1;
    for (auto& [rank, withdrawal] : region.keys) {
        withdrawal.number = ++withdrawal.holder->told;
        const fabric::AccessPiece word{.here = reinterpret_cast<std::byte*>(&withdrawal.number),
                                       .there = withdrawal.holder->word,
                                       .bytes = sizeof withdrawal.number};
        const fabric::Access state = withdrawal.holder->words->put({&word, 1}, withdrawal);
        if (state == fabric::Access::failed && region.exposed.key_bytes != 0) {
            give_up(rank);
        }
        const bool over = state == fabric::Access::complete || state == fabric::Access::failed;
        region.untold -= over ? 1 : 0;
    }
    channels_.carrier().note_sent();
    --region.untold;
    end_if_told(region);
}

/// It would use a key that opens nothing any more.
void ExposedRegions::give_up(int rank) noexcept
{
    Channel* channel = channels_.find(rank);
    if (channel == nullptr || channel->lost) {
        return;
    }
    log(LogLevel::error, "rank %d cannot be told of a detach: it is lost to this process", rank);
    channels_.give_up(rank, channel->peer);
}

/// Who could not be told is lost.
void ExposedRegions::told(fabric::Completion& self, Status /*status*/) noexcept
{
    auto& withdrawal = static_cast<Withdrawal&>(self);
    --withdrawal.region->untold;
    withdrawal.owner->end_if_told(*withdrawal.region);
}

void ExposedRegions::end_if_told(Region& region) noexcept
{
    if (rules::is_detached(region.untold)) {
        finish(std::exchange(region.detached, nullptr));
    }
    if (region.untold == 0) {
        channels_.carrier().fabric().conceal(region.exposed);
        delete &region;
    }
}

} // namespace sidelight::rma
