// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/sim/network.hpp"

#include <algorithm>
#include <utility>

namespace sidelight::fabric::sim {

Network::Network(int ranks, const Costs& costs, std::uint64_t seed) : costs_(costs), random_(seed)
{
    for (int rank = 0; rank < ranks; ++rank) {
        endpoints_.push_back(std::make_unique<Endpoint>(*this, rank, ranks));
    }
}

void Network::push(Event event)
{
    event.order = random_.next();
    queue_.push_back(std::move(event));
    std::push_heap(queue_.begin(), queue_.end(), later);
}

void Network::schedule(int rank, Time at)
{
    Endpoint& target = endpoint(rank);
    if (target.run_at_ <= at) {
        return; // that run will see what this one would
    }
    target.run_at_ = at;
    push({at, 0, rank, nullptr});
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
    if (event.arrival != nullptr) {
        target.arrivals_.push_back(std::move(*event.arrival));
        schedule(event.rank, event.at);
    } else if (target.run_at_ == event.at) {
        target.run_at_ = Endpoint::never;
        run(target, event.at);
    }
    return true;
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

Status Endpoint::send(int peer, std::span<const std::byte> header,
                      std::span<const std::byte> payload) noexcept
{
    auto arrival = std::make_unique<Arrival>();
    arrival->from = rank_;
    arrival->bytes.reserve(header.size() + payload.size());
    arrival->bytes.insert(arrival->bytes.end(), header.begin(), header.end());
    arrival->bytes.insert(arrival->bytes.end(), payload.begin(), payload.end());
    if (network_.observer_ != nullptr) {
        network_.observer_->sent(rank_, peer, arrival->bytes);
    }
    const Costs& costs = network_.costs_;
    network_.spend(costs.overhead);
    ++network_.messages_;
    const Time leaves = std::max(network_.now(), card_free_);
    const Time bytes = arrival->bytes.size() * costs.byte_ps / 1000;
    card_free_ = leaves + std::max(costs.gap, bytes);
    Time& last = arrived_by_[static_cast<std::size_t>(peer)];
    last = std::max(last + 1, leaves + bytes + costs.latency + network_.jitter());
    network_.push({last, 0, peer, std::move(arrival)});
    return Status::ok;
}

bool Endpoint::poll(Receiver& receiver) noexcept
{
    if (arrivals_.empty()) {
        return false;
    }
    const std::size_t batch = 1 + network_.random().below(arrivals_.size());
    for (std::size_t i = 0; i < batch; ++i) {
        const Arrival arrival = std::move(arrivals_.front());
        arrivals_.pop_front();
        network_.spend(network_.costs_.overhead);
        if (network_.observer_ != nullptr) {
            network_.observer_->handed_over(arrival.from, rank_, arrival.bytes);
        }
        receiver.receive(arrival.from, arrival.bytes);
    }
    return true;
}

void Endpoint::wake(int peer) noexcept
{
    network_.schedule(peer, network_.now() + network_.costs_.wake + network_.jitter());
}

} // namespace sidelight::fabric::sim
