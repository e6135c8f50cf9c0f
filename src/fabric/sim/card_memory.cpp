// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/sim/card_memory.hpp"

#include <algorithm>
#include <cstring>

namespace sidelight::fabric::sim {

bool Endpoint::accesses(int peer) noexcept
{
    const auto pair = static_cast<std::uint64_t>(rank_) << 32 | static_cast<std::uint64_t>(peer);
    return Random(network_.seed_ ^ pair).chance(network_.costs_.native_percent);
}

bool Endpoint::expose(std::span<std::byte> memory, ExposedMemory& exposed) noexcept
{
    const Key key{.number = ++network_.exposures_, .rank = rank_};
    network_.exposed_.emplace(key.number, memory);
    std::memcpy(exposed.key.data(), &key, sizeof key);
    exposed.key_bytes = sizeof key;
    return true;
}

void Endpoint::conceal(ExposedMemory& exposed) noexcept
{
    Key key;
    std::memcpy(&key, exposed.key.data(), sizeof key);
    network_.exposed_.erase(key.number);
    exposed.key_bytes = 0;
}

std::unique_ptr<RemoteMemory> Endpoint::open(int peer, std::span<const std::byte> bytes) noexcept
{
    Key key;
    if (bytes.size() != sizeof key) {
        return nullptr;
    }
    std::memcpy(&key, bytes.data(), sizeof key);
    return key.rank == peer ? std::make_unique<CardMemory>(*this, key) : nullptr;
}

Access CardMemory::start(bool put, std::span<const AccessPiece> pieces, Completion& done)
{
    Network& network = endpoint_.network_;
    const auto owner = static_cast<int>(key_.rank);
    Endpoint::Contact& contact = endpoint_.contacts_[owner];
    auto transfer = std::make_shared<Transfer>(
        Transfer{.network = network,
                 .origin = endpoint_.rank_,
                 .key = key_,
                 .put = put,
                 .done = done,
                 .pieces = {pieces.begin(), pieces.end()},
                 .moved = std::vector<std::vector<std::byte>>(pieces.size()),
                 .left = pieces.size()});
    Time all_left = 0;
    for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
        const Time left = endpoint_.card_time(put ? pieces[piece].bytes : 0);
        const Time lands =
            std::max(contact.fenced + 1, left + network.costs_.latency + network.jitter());
        contact.last_landing = std::max(contact.last_landing, lands);
        all_left = left;
        network.push({.at = lands,
                      .rank = owner,
                      .arrival = nullptr,
                      .departure = nullptr,
                      .transfer = transfer,
                      .piece = piece});
    }
    if (put && network.costs_.puts_end_early) {
        ++transfer->left; // so its landing tells nobody
        endpoint_.accessed_.emplace_back(&done, Status::ok);
        network.schedule(endpoint_.rank_, network.now());
    } else if (put && done.left != nullptr && network.random().chance(50)) {
        network.push({.at = all_left,
                      .rank = endpoint_.rank_,
                      .arrival = nullptr,
                      .departure = nullptr,
                      .transfer = transfer,
                      .piece = pieces.size()});
    }
    return Access::pending;
}

bool CardMemory::fence() noexcept
{
    Endpoint::Contact& contact = endpoint_.contacts_[static_cast<int>(key_.rank)];
    contact.fenced = endpoint_.network_.costs_.fences_hold ? contact.last_landing : 0;
    return true;
}

void Transfer::step(const Pointer& transfer, int rank, std::size_t piece)
{
    if (rank != transfer->origin) {
        arrive(transfer, piece);
    } else if (piece == transfer->pieces.size()) {
        transfer->leave();
    } else {
        transfer->come_back(piece);
    }
}

/// What has not landed yet is read now.
void Transfer::leave()
{
    Endpoint& home = network.endpoint(origin);
    if (home.dead_ || left == 0) {
        return;
    }
    for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
        moved[piece].assign(pieces[piece].here, pieces[piece].here + pieces[piece].bytes);
    }
    home.put_.push_back(&done);
    network.schedule(origin, network.now());
}

void Transfer::arrive(const Pointer& transfer, std::size_t piece)
{
    Network& network = transfer->network;
    const auto owner = static_cast<int>(transfer->key.rank);
    Time after = network.costs_.latency;
    if (network.dead(owner)) {
        transfer->status = Status::other;
        network.endpoint(transfer->origin).will_lose(owner);
        after = network.costs_.notice;
    } else {
        const auto found = network.exposed_.find(transfer->key.number);
        transfer->access(found != network.exposed_.end() ? found->second : std::span<std::byte>(),
                         piece);
        after += transfer->time_back(piece);
    }
    network.push({.at = network.now() + after + network.jitter(),
                  .rank = transfer->origin,
                  .arrival = nullptr,
                  .departure = nullptr,
                  .transfer = transfer,
                  .piece = piece});
}

void Transfer::access(std::span<std::byte> memory, std::size_t piece)
{
    const AccessPiece& one = pieces[piece];
    ++network.accesses_;
    if (one.there > memory.size() || one.bytes > memory.size() - one.there) {
        ++network.violations_;
        status = Status::other;
    } else if (put) {
        std::memcpy(memory.data() + one.there,
                    moved[piece].empty() ? one.here : moved[piece].data(), one.bytes);
        if (network.observer_ != nullptr) {
            network.observer_->written();
        }
    } else {
        const auto first = memory.begin() + static_cast<std::ptrdiff_t>(one.there);
        moved[piece].assign(first, first + static_cast<std::ptrdiff_t>(one.bytes));
    }
}

/// How long the owner's card sends what is got.
Time Transfer::time_back(std::size_t piece)
{
    return put || moved[piece].empty()
               ? 0
               : network.leaves(static_cast<int>(key.rank), moved[piece].size()) - network.now();
}

void Transfer::come_back(std::size_t piece)
{
    Endpoint& home = network.endpoint(origin);
    if (home.dead_) {
        return;
    }
    if (!put && !moved[piece].empty()) {
        std::memcpy(pieces[piece].here, moved[piece].data(), moved[piece].size());
        if (network.observer_ != nullptr) {
            network.observer_->written();
        }
    }
    if (--left == 0) {
        home.accessed_.emplace_back(&done, status);
        network.schedule(origin, network.now());
    }
}

} // namespace sidelight::fabric::sim
