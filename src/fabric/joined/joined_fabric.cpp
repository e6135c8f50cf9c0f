// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/joined/joined_fabric.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/cpu.hpp"
#include "fabric/mapped/copied_memory.hpp"
#include "fabric/remote_memory.hpp"

namespace sidelight::fabric {

JoinedFabric::JoinedFabric(NetworkOptions options)
    : options_(std::move(options)), numbers_(mapped_.address().identity)
{
    options_.inbox = &mapped_.inbox();
    peers_.push_back({.mapped = MappedFabric::own_peer});
}

bool JoinedFabric::open_network()
{
    if (tried_) {
        return network_ != nullptr;
    }
    const bool lacks = static_cast<bool>(lack_for_network());
    if (lacks && std::exchange(lacked_, true)) {
        return false;
    }
    network_ = fabric::open_network(numbers_, options_);
    tried_ = network_ != nullptr || !lacks;
    return network_ != nullptr;
}

/// To peers whose network goes on this process is another one when it comes back: they have counted
/// batches of the old one, know where that was reached, and may still send to it. What is left in
/// its boxes, too, would be taken for a later batch.
bool JoinedFabric::close_network(Receiver& receiver, Time limit) noexcept
{
    tried_ = lacked_ = false;
    if (network_ == nullptr) {
        return true;
    }
    const bool left = network_->close(receiver, limit);
    network_.reset();
    mapped_.begin_anew();
    numbers_.rename_own(mapped_.address().identity);
    for (const int peer : to_ring_) {
        peers_[static_cast<std::size_t>(peer)].to_ring = false;
    }
    to_ring_.clear();
    for (const int peer : watched_) {
        peers_[static_cast<std::size_t>(peer)].watched = false;
    }
    watched_.clear();
    return left;
}

JoinedFabric::Peer& JoinedFabric::peer_of(std::uint64_t identity)
{
    const auto number = static_cast<std::size_t>(numbers_.number(identity));
    if (number >= peers_.size()) {
        const auto count = static_cast<std::size_t>(numbers_.count());
        to_ring_.reserve(count);
        watched_.reserve(count);
        peers_.resize(count);
    }
    return peers_[number];
}

int JoinedFabric::meet(const PeerAddress& peer, std::span<const std::byte> network_address)
{
    Peer& known = peer_of(peer.identity);
    if (known.mapped < 0 && peer.bell.descriptor >= 0) {
        known.mapped = mapped_.meet(peer);
    }
    if (network_ != nullptr && !network_address.empty()) {
        network_->meet(peer.identity, network_address);
    }
    return numbers_.number(peer.identity);
}

bool JoinedFabric::copies(const PeerAddress& peer, std::uint64_t identity_at) noexcept
{
    Peer& known = peer_of(peer.identity);
    known.copied = known.copied || can_copy(peer.bell.owner, identity_at, peer.identity);
    return known.copied;
}

Status JoinedFabric::send(int peer, std::span<const std::byte> header,
                          std::span<const std::byte> payload) noexcept
{
    if (network_ == nullptr) {
        return Status::unsupported;
    }
    note_sending(peer);
    return network_->send(peer, header, payload);
}

Status JoinedFabric::send_zero_copy(int peer, std::span<const std::byte> header,
                                    std::span<const std::byte> payload, Completion& sent) noexcept
{
    if (network_ == nullptr) {
        return Status::unsupported;
    }
    note_sending(peer);
    return network_->send_zero_copy(peer, header, payload, sent);
}

std::size_t JoinedFabric::zero_copy_from(int peer) const noexcept
{
    const auto index = static_cast<std::size_t>(peer);
    const bool near = index < peers_.size() && peers_[index].mapped >= 0;
    return network_ == nullptr || near ? 0 : network_->zero_copy_from(peer);
}

/// A peer of this node may sleep at its doorbell, where the network does not wake it; and it may
/// have a box.
void JoinedFabric::note_sending(int number) noexcept
{
    const auto index = static_cast<std::size_t>(number);
    if (index >= peers_.size() || peers_[index].mapped < 0 || peers_[index].to_ring) {
        return;
    }
    Peer& peer = peers_[index];
    peer.to_ring = true;
    to_ring_.push_back(number);
    if (number != own_peer && !std::exchange(peer.watched, true)) {
        watched_.push_back(number);
    }
    if (number != own_peer && network_->wants_boxes() && !std::exchange(peer.asked_for_box, true)) {
        network_->use_box(number, mapped_.claim_box(peer.mapped));
    }
}

void JoinedFabric::push() noexcept
{
    if (network_ == nullptr) {
        return;
    }
    network_->push();
    if (to_ring_.empty()) {
        return;
    }
    bool ordered = false; // what the network has stored for them, before the look at their bells
    for (const int peer : to_ring_) {
        peers_[static_cast<std::size_t>(peer)].to_ring = false;
        Doorbell* bell = bell_of(peer);
        if (bell == nullptr) {
            continue;
        }
        if (!ordered && !bell->lingering()) {
            full_barrier();
            ordered = true;
        }
        bell->ring_stored({.bits = message_event});
    }
    to_ring_.clear();
}

bool JoinedFabric::poll(Receiver& receiver) noexcept
{
    if (network_ == nullptr) {
        return false;
    }
    constexpr unsigned polls_per_look = 1024; // of the clock
    const bool may_sleep = mapped_.bell().is_slept_at();
    if (may_sleep) {
        network_->look_everywhere(); // it may be the last look before a sleep
    }
    if (may_sleep || ++polls_ % polls_per_look == 0) {
        look_for_ended();
    }
    return network_->poll(receiver);
}

Arming JoinedFabric::arm() noexcept
{
    look_for_ended();
    const Arming arming = network_->arm();
    return arming == Arming::armed && !watched_.empty() ? Arming::unarmed : arming;
}

/// Of those of this node no connection tells that they have ended, and UCX asks after them every 20
/// seconds. Each in its turn, all within a second if they are few; but not many at once.
void JoinedFabric::look_for_ended() noexcept
{
    constexpr Time round = std::chrono::seconds(1);
    constexpr std::size_t most_at_once = 8;
    if (watched_.empty()) {
        return;
    }
    const Time time = now();
    const Time between = round / watched_.size();
    next_look_ =
        std::max<Time>(next_look_, time - std::min(most_at_once, watched_.size()) * between);
    for (; next_look_ < time && !watched_.empty(); next_look_ += between) {
        looked_at_ = (looked_at_ + 1) % watched_.size();
        const int peer = watched_[looked_at_];
        if (mapped_.has_ended(peers_[static_cast<std::size_t>(peer)].mapped)) {
            network_->note_end(peer);
            watched_[looked_at_] = watched_.back();
            watched_.pop_back();
        }
    }
}

bool JoinedFabric::has_come() const noexcept { return network_ != nullptr && network_->has_come(); }

bool JoinedFabric::is_close() const noexcept { return network_ != nullptr && network_->is_close(); }

Doorbell* JoinedFabric::bell_of(int peer) noexcept
{
    const auto number = static_cast<std::size_t>(peer);
    return number < peers_.size() && peers_[number].mapped >= 0
               ? mapped_.bell_of(peers_[number].mapped)
               : nullptr;
}

bool JoinedFabric::accesses(int peer) noexcept
{
    return network_ != nullptr && network_->accesses(peer);
}

bool JoinedFabric::expose(std::span<std::byte> memory, ExposedMemory& exposed) noexcept
{
    return network_ != nullptr && network_->expose(memory, exposed);
}

void JoinedFabric::conceal(ExposedMemory& exposed) noexcept
{
    if (network_ != nullptr) {
        network_->conceal(exposed);
    }
}

std::unique_ptr<RemoteMemory> JoinedFabric::open(int peer, std::span<const std::byte> key) noexcept
{
    return network_ != nullptr ? network_->open(peer, key) : nullptr;
}

} // namespace sidelight::fabric
