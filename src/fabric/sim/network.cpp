// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/sim/network.hpp"

#include <algorithm>
#include <utility>

#include "fabric/sim/card_memory.hpp"

namespace sidelight::fabric::sim {

Network::Network(int ranks, const Costs& costs, std::uint64_t seed)
    : costs_(costs), random_(seed), seed_(seed), cards_(static_cast<std::size_t>(ranks))
{
    for (int rank = 0; rank < ranks; ++rank) {
        endpoints_.push_back(std::make_unique<Endpoint>(*this, rank));
    }
}

bool Network::is_exposed(const std::byte* byte) const noexcept
{
    return std::any_of(exposed_.begin(), exposed_.end(), [byte](const auto& exposed) {
        const std::span<std::byte> memory = exposed.second;
        return byte >= memory.data() && byte < memory.data() + memory.size();
    });
}

void Network::push(Event event)
{
    event.order = random_.next();
    queue_.push_back(std::move(event));
    std::push_heap(queue_.begin(), queue_.end(), later);
}

Time Network::leaves(int rank, std::size_t bytes) noexcept
{
    Card& card = cards_[static_cast<std::size_t>(rank)];
    const Time takes = bytes * costs_.byte_ps / 1000;
    const Time occupied = std::max(costs_.gap, takes);
    const bool passes = bytes <= costs_.express;
    const Time begins = std::max(now_, passes ? card.short_free : card.free);
    card.free = std::max(card.free, begins) + occupied;
    if (passes) {
        card.short_free = begins + occupied;
    }
    return begins + takes;
}

void Network::schedule(int rank, Time at)
{
    Endpoint& target = endpoint(rank);
    if (target.run_at_ <= at) {
        return; // that run will see what this one would
    }
    target.run_at_ = at;
    push({.at = at, .rank = rank, .arrival = nullptr, .departure = nullptr});
}

bool Network::step()
{
    if (queue_.empty()) {
        return false;
    }
    std::pop_heap(queue_.begin(), queue_.end(), later);
    Event event = std::move(queue_.back());
    queue_.pop_back();
    ++events_;
    now_ = event.at;
    Endpoint& target = endpoint(event.rank);
    if (event.death) {
        target.die();
    } else if (event.transfer != nullptr) {
        Transfer::step(event.transfer, event.rank, event.piece);
    } else if (target.dead_) {
        return true;
    } else if (event.loss >= 0) {
        target.lost_.push_back(event.loss);
        schedule(event.rank, event.at);
    } else if (event.departure != nullptr) {
        target.leave(std::move(*event.departure));
    } else if (event.arrival != nullptr) {
        Endpoint::Contact& contact = target.contacts_[event.arrival->from];
        if (contact.lost) {
            return true;
        }
        target.arrivals_.push_back(std::move(*event.arrival));
        if (dead(target.arrivals_.back().from)) {
            target.will_lose(target.arrivals_.back().from);
        }
        schedule(event.rank, event.at);
    } else if (target.run_at_ == event.at) {
        target.run_at_ = Endpoint::never;
        run(target, event.at);
    }
    return true;
}

void Network::kill(int rank, Time at)
{
    Event event;
    event.at = at;
    event.rank = rank;
    event.death = true;
    push(std::move(event));
}

void Network::run(Endpoint& endpoint, Time at)
{
    if (at < endpoint.free_) {
        schedule(endpoint.rank_, endpoint.free_);
        return;
    }
    if (endpoint.actor_ != nullptr) {
        endpoint.actor_->run();
        endpoint.free_ = now_;
    }
}

} // namespace sidelight::fabric::sim
