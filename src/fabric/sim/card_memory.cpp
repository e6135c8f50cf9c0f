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
    endpoint_.contacts_[owner];
    auto transfer = std::make_shared<Transfer>(
        Transfer{.network = network,
                 .origin = endpoint_.rank_,
                 .key = key_,
                 .put = put,
                 .done = done,
                 .pieces = {pieces.begin(), pieces.end()},
                 .got = std::vector<std::vector<std::byte>>(put ? 0 : pieces.size()),
                 .left = pieces.size()});
    for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
        const Time left = endpoint_.card_time(put ? pieces[piece].bytes : 0);
        const Time lands = std::max(fenced_ + 1, left + network.costs_.latency + network.jitter());
        last_landing_ = std::max(last_landing_, lands);
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
    }
    return Access::pending;
}

bool CardMemory::fence() noexcept
{
    fenced_ = endpoint_.network_.costs_.fences_hold ? last_landing_ : 0;
    return true;
}

void Transfer::step(const Pointer& transfer, int rank, std::size_t piece)
{
    rank == transfer->origin ? transfer->come_back(piece) : arrive(transfer, piece);
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
        std::memcpy(memory.data() + one.there, one.here, one.bytes);
        if (network.observer_ != nullptr) {
            network.observer_->written();
        }
    } else {
        const auto first = memory.begin() + static_cast<std::ptrdiff_t>(one.there);
        got[piece].assign(first, first + static_cast<std::ptrdiff_t>(one.bytes));
    }
}

void Transfer::come_back(std::size_t piece)
{
    Endpoint& home = network.endpoint(origin);
    if (home.dead_) {
        return;
    }
    if (!put && !got[piece].empty()) {
        std::memcpy(pieces[piece].here, got[piece].data(), got[piece].size());
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
