// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/sim/endpoint.hpp"

#include <algorithm>
#include <utility>

#include "fabric/sim/network.hpp"

namespace sidelight::fabric::sim {

Status Endpoint::send(int peer, std::span<const std::byte> header,
                      std::span<const std::byte> payload) noexcept
{
    ++sends_;
    Held held{.peer = peer, .bytes = {}};
    held.bytes.reserve(header.size() + payload.size());
    held.bytes.insert(held.bytes.end(), header.begin(), header.end());
    held.bytes.insert(held.bytes.end(), payload.begin(), payload.end());
    if (network_.observer_ != nullptr) {
        network_.observer_->sent(rank_, peer, held.bytes);
    }
    held_.push_back(std::move(held));
    if (network_.random().chance(network_.costs_.full_percent)) {
        push();
    }
    return Status::ok;
}

void Endpoint::push() noexcept
{
    batches_ += held_.empty() ? 0 : 1;
    for (Held& held : held_) {
        transmit(std::move(held));
    }
    held_.clear();
}

Time Endpoint::card_time(std::size_t bytes) noexcept
{
    network_.spend(network_.costs_.overhead);
    ++network_.messages_;
    return network_.leaves(rank_, bytes);
}

void Endpoint::transmit(Held held) noexcept
{
    auto arrival = std::make_unique<Arrival>();
    arrival->from = rank_;
    arrival->bytes = std::move(held.bytes);
    const Time left = card_time(arrival->bytes.size());
    if (network_.dead(held.peer)) {
        contacts_[held.peer]; // now they have to do with one another
        will_lose(held.peer);
        return;
    }
    Time& last = contacts_[held.peer].arrived_by;
    last = std::max(last + 1, left + network_.costs_.latency + network_.jitter());
    network_.push(
        {.at = last, .rank = held.peer, .arrival = std::move(arrival), .departure = nullptr});
}

std::size_t Endpoint::zero_copy_from(int /*peer*/) const noexcept
{
    return network_.costs_.zero_copy_from;
}

Status Endpoint::send_zero_copy(int peer, std::span<const std::byte> header,
                                std::span<const std::byte> payload, Completion& sent) noexcept
{
    ++sends_;
    push();
    const auto met = contacts_.find(peer);
    auto departure = std::make_unique<Departure>();
    *departure = {.peer = peer,
                  .after = met != contacts_.end() ? met->second.arrived_by : 0,
                  .header = {header.begin(), header.end()},
                  .payload = payload,
                  .sent = &sent};
    if (network_.observer_ != nullptr) {
        network_.observer_->sent(rank_, peer, departure->header);
    }
    const Time left = card_time(header.size() + payload.size());
    network_.push(
        {.at = left, .rank = rank_, .arrival = nullptr, .departure = std::move(departure)});
    return Status::ok;
}

/// Its payload is read now, so a sender that has used the memory again is found out. It comes after
/// what was sent before it.
void Endpoint::leave(Departure departure) noexcept
{
    sent_.push_back(departure.sent);
    network_.schedule(rank_, network_.now());
    if (network_.dead(departure.peer)) {
        contacts_[departure.peer];
        will_lose(departure.peer);
        return;
    }
    contacts_[departure.peer];
    auto arrival = std::make_unique<Arrival>();
    arrival->from = rank_;
    arrival->is_zero_copy = true;
    arrival->bytes = std::move(departure.header);
    arrival->payload_bytes = departure.payload.size();
    const auto carried =
        departure.payload.first(std::min(departure.payload.size(), network_.costs_.carried));
    arrival->payload.assign(carried.begin(), carried.end());
    const Time arrives = network_.now() + network_.costs_.latency + network_.jitter();
    network_.push({.at = std::max(arrives, departure.after + 1),
                   .rank = departure.peer,
                   .arrival = std::move(arrival),
                   .departure = nullptr});
}

void Endpoint::die() noexcept
{
    dead_ = true;
    arrivals_.clear();
    held_.clear();
    for (auto& other : network_.endpoints_) {
        if (other->contacts_.contains(rank_)) {
            other->will_lose(rank_);
        }
    }
}

void Endpoint::will_lose(int peer) noexcept
{
    if (dead_ || std::exchange(contacts_[peer].told, true)) {
        return;
    }
    Network::Event event;
    event.at = network_.now() + network_.costs_.notice + network_.jitter();
    event.rank = rank_;
    event.loss = peer;
    network_.push(std::move(event));
}

/// Nothing of theirs comes any more, not even what has arrived.
void Endpoint::tell_lost(Receiver& receiver) noexcept
{
    for (const int peer : std::exchange(lost_, {})) {
        std::erase_if(arrivals_, [&](const Arrival& arrival) { return arrival.from == peer; });
        contacts_[peer].lost = true;
        receiver.lost(peer);
    }
}

bool Endpoint::poll(Receiver& receiver) noexcept
{
    if (!has_arrivals()) {
        return false;
    }
    tell_lost(receiver);
    for (Completion* sent : std::exchange(sent_, {})) {
        sent->finished(*sent, Status::ok);
    }
    for (Completion* put : std::exchange(put_, {})) {
        put->left(*put);
    }
    for (const auto& [done, status] : std::exchange(accessed_, {})) {
        done->finished(*done, status);
    }
    const std::size_t batch = arrivals_.empty() ? 0 : 1 + network_.random().below(arrivals_.size());
    for (std::size_t i = 0; i < batch; ++i) {
        Arrival arrival = std::move(arrivals_.front());
        arrivals_.pop_front();
        network_.spend(network_.costs_.overhead);
        if (network_.observer_ != nullptr && arrival.place == nullptr) {
            network_.observer_->handed_over(arrival.from, rank_, arrival.bytes);
        }
        hand_over(receiver, std::move(arrival));
    }
    return true;
}

/// A zero-copy message is placed first, and at random other messages come before the end of it.
void Endpoint::hand_over(Receiver& receiver, Arrival arrival)
{
    if (!arrival.is_zero_copy) {
        receiver.receive(arrival.from, arrival.bytes);
        return;
    }
    if (arrival.place == nullptr) {
        arrival.place = receiver.place(arrival.from, arrival.bytes, arrival.payload_bytes);
        if (arrival.place == nullptr) {
            return;
        }
        if (network_.random().chance(50)) {
            arrivals_.push_back(std::move(arrival));
            network_.schedule(rank_, network_.now());
            return;
        }
    }
    std::copy(arrival.payload.begin(), arrival.payload.end(), arrival.place);
    if (network_.observer_ != nullptr) {
        network_.observer_->placed(rank_);
    }
    receiver.placed(arrival.from, arrival.bytes, arrival.payload_bytes);
}

/// Calls like rings are found when the rank is run: nobody sleeps in the kernel here.
void Endpoint::wake(int peer, const Event& event) noexcept
{
    ++rings_;
    static_cast<void>(network_.endpoint(peer).interest_.tell(event));
    network_.schedule(peer, network_.now() + network_.costs_.wake + network_.jitter());
}

} // namespace sidelight::fabric::sim
