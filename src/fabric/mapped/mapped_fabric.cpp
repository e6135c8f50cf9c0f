// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/mapped/mapped_fabric.hpp"

#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include <sys/random.h>

#include "base/log.hpp"

namespace sidelight::fabric {
namespace {

std::uint64_t random_identity() noexcept
{
    std::uint64_t identity = 0;
    while (getrandom(&identity, sizeof identity, 0) != sizeof identity) {
    }
    return identity;
}

} // namespace

MappedFabric::MappedFabric() : file_(create_memory_file())
{
    Mapping page = file_ ? Mapping::shared(file_, sizeof(Doorbell)) : Mapping();
    if (!page) {
        throw std::system_error(errno, std::generic_category(), "cannot make a doorbell");
    }
    address_ = {.identity = random_identity(), .bell = address_of(file_)};
    bell_ = new (page.data()) Doorbell;
    peers_.push_back({std::move(page), bell_});
    numbers_.emplace(address_.identity, own_peer);
}

int MappedFabric::meet(const PeerAddress& peer)
{
    const auto known = numbers_.find(peer.identity);
    if (known != numbers_.end()) {
        return known->second;
    }
    const File file = open_memory_file(peer.bell);
    Mapping page = file ? Mapping::shared(file, sizeof(Doorbell)) : Mapping();
    if (!page) {
        log(LogLevel::warn, "cannot map the doorbell of process %d", peer.bell.owner);
    }
    // The owner has made it: this only names what is there.
    auto* bell = reinterpret_cast<Doorbell*>(page.data());
    const int number = static_cast<int>(peers_.size());
    peers_.push_back({std::move(page), bell});
    numbers_.emplace(peer.identity, number);
    return number;
}

Status MappedFabric::send(int /*peer*/, std::span<const std::byte> /*header*/,
                          std::span<const std::byte> /*payload*/) noexcept
{
    return Status::unsupported;
}

Status MappedFabric::send_long(int /*peer*/, std::span<const std::byte> /*header*/,
                               std::span<const std::byte> /*payload*/,
                               Completion& /*sent*/) noexcept
{
    return Status::unsupported;
}

bool MappedFabric::poll(Receiver& /*receiver*/) noexcept { return false; }

Doorbell* MappedFabric::bell_of(int peer) noexcept
{
    return peers_[static_cast<std::size_t>(peer)].bell;
}

} // namespace sidelight::fabric
