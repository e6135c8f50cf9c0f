// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/contacts.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace sidelight::rma {

Status Contacts::first_contact(int rank) noexcept
{
    Member member;
    if (Status status = with_.members.find(rank, member); status != Status::ok) {
        return status;
    }
    try {
        met_.push_back(rank);
    } catch (const std::bad_alloc&) {
        return Status::no_memory;
    }
    peers_[rank].control = member.control;
    Target& target = targets_[rank];
    target.base = member.base;
    target.size = member.size;
    target.disp_unit = member.disp_unit;
    target.peer = member.peer;
    target.bell = with_.channels.carrier().fabric().bell_of(member.peer);
    target.mapped = member.mapped;
    target.remote = member.remote;
    target.met = true;
    if (member.control != nullptr) {
        peers_[rank].here = member.number;
        target.accumulates = &member.control->accumulates;
        if (with_.dynamic && rank != with_.rank) {
            know_regions(target, *member.control);
        }
    }
    if (target.lost) {
        channel(rank).lost = true;
    } else if (with_.farewells.is_lost(member.peer)) {
        lose(rank);
    }
    return Status::ok;
}

/// Without memory for it, operations on what it attaches travel as messages.
void Contacts::know_regions(Target& target, Control& control) noexcept
{
    try {
        regions_.push_back(std::make_unique<MappedRegions>(control.regions, with_.memory,
                                                           target.latest, target.regions_open));
        target.regions = regions_.back().get();
    } catch (const std::bad_alloc&) {
        target.regions = nullptr;
    }
}

void Contacts::close_regions() noexcept
{
    for (const std::int32_t rank : met_) {
        if (targets_[rank].regions != nullptr) {
            targets_[rank].handle_regions(false);
        }
    }
}

void Contacts::publish_grant(int rank, std::uint64_t exposures) noexcept
{
    publish(rank, peers_[rank].control->notices(with_.rank).granted, exposures,
            notice_event(*this, rules::EventClass::grant, exposures));
}

void Contacts::publish_done(int rank, std::uint64_t accesses) noexcept
{
    publish(rank, peers_[rank].control->notices(with_.rank).done, accesses,
            notice_event(*this, rules::EventClass::done, accesses));
}

void Contacts::publish(int rank, std::atomic<std::uint64_t>& notice, std::uint64_t value,
                       const Event& event) noexcept
{
    const Target& target = targets_[rank];
    if (target.bell != nullptr) {
        target.bell->publish(notice, value, event);
    } else {
        notice.exchange(value, std::memory_order_seq_cst);
        with_.channels.carrier().fabric().wake(target.peer, event);
    }
}

void Contacts::wake(int rank, const Event& event) noexcept
{
    with_.channels.carrier().fabric().wake(targets_[rank].peer, event);
}

void Contacts::wake_neighbours(const Event& event) noexcept
{
    for (const std::int32_t neighbour : with_.neighbours) {
        if (neighbour != with_.rank) {
            with_.channels.carrier().fabric().wake(targets_[neighbour].peer, event);
        }
    }
}

void Contacts::lose(int rank) noexcept
{
    Target& target = targets_[rank];
    if (rank == with_.rank || std::exchange(target.lost, true)) {
        return;
    }
    broken_ = true;
    if (target.met) {
        channel(rank).lost = true;
        Mapped::close(target);
    }
    peers_[rank].next_lost = first_lost_;
    first_lost_ = rank + 1;
    with_.attention.set(Reason::lost_member, true);
}

int Contacts::take_lost() noexcept
{
    const int rank = first_lost_ - 1;
    if (rank >= 0) {
        first_lost_ = peers_[rank].next_lost;
        with_.attention.set(Reason::lost_member, first_lost_ != 0);
    }
    return rank;
}

std::size_t Contacts::memory_bytes() const
{
    constexpr std::size_t page = 4096;
    const auto touched = [this](std::size_t entry) {
        std::vector<std::size_t> pages;
        for (const std::int32_t rank : met_) {
            pages.push_back(static_cast<std::size_t>(rank) * entry / page);
        }
        std::sort(pages.begin(), pages.end());
        return static_cast<std::size_t>(std::unique(pages.begin(), pages.end()) - pages.begin());
    };
    const std::size_t pages =
        touched(sizeof(Target)) + touched(sizeof(Peer)) + touched(sizeof(Channel*));
    return met_.size() * (sizeof met_[0] + sizeof(Channel)) + pages * page;
}

} // namespace sidelight::rma
