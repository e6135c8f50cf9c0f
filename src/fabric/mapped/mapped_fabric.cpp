// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/mapped/mapped_fabric.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include <sys/random.h>
#include <unistd.h>

#include "base/log.hpp"
#include "base/process_end.hpp"
#include "base/system_limits.hpp"

namespace sidelight::fabric {
namespace {

std::uint64_t random_identity() noexcept
{
    std::uint64_t identity = 0;
    while (getrandom(&identity, sizeof identity, 0) != sizeof identity) {
    }
    return identity;
}

[[noreturn]] void refuse(const ReasonText& why)
{
    throw std::runtime_error(std::string("cannot make a doorbell: ") + why.c_str());
}

/// Not with the last files and addresses of a process: the host would lack them when the windows
/// are its own, and already while the members tell one another that they are.
File make_file()
{
    constexpr int files = 8;
    constexpr std::size_t addresses = std::size_t{32} << 20;
    if (const ReasonText lack = lack_of_files(files)) {
        refuse(lack);
    }
    if (const ReasonText lack = lack_of_addresses(addresses)) {
        refuse(lack);
    }
    File file = create_memory_file();
    if (!file) {
        refuse(reason_of(errno));
    }
    return file;
}

Mapping make_page(const File& file)
{
    Mapping mapping = Mapping::shared(file, sizeof(ProcessPage));
    if (!mapping) {
        refuse(reason_of(errno));
    }
    return mapping;
}

} // namespace

MappedFabric::MappedFabric()
    : file_(make_file()),
      address_{.identity = random_identity(),
               .bell = address_of(file_),
               .started = started_at(getpid())},
      own_(make_page(file_)),
      inbox_(page_in(own_)->boxes)
{
    peers_.push_back({{}, page_in(own_), address_.bell, address_.started});
    numbers_.emplace(address_.identity, own_peer);
}

void MappedFabric::begin_anew() noexcept
{
    inbox_.begin_anew();
    auto entry = numbers_.extract(address_.identity); // so that nothing is allocated
    address_.identity = entry.key() = random_identity();
    numbers_.insert(std::move(entry));
}

int MappedFabric::meet(const PeerAddress& peer)
{
    const auto known = numbers_.find(peer.identity);
    if (known != numbers_.end()) {
        return known->second;
    }
    // One whose network has been opened anew has another identity and the same page.
    const auto same = std::find_if(peers_.begin(), peers_.end(), [&](const Peer& one) {
        return one.page != nullptr && one.bell == peer.bell;
    });
    if (same != peers_.end()) {
        const int number = static_cast<int>(same - peers_.begin());
        numbers_.emplace(peer.identity, number);
        return number;
    }
    const File file = open_memory_file(peer.bell);
    Mapping mapping = file ? Mapping::shared(file, sizeof(ProcessPage)) : Mapping();
    if (!mapping) {
        log(LogLevel::warn, "cannot map the doorbell of process %d: %s", peer.bell.owner,
            reason_of(errno).c_str());
    }
    const int number = static_cast<int>(peers_.size());
    ProcessPage* page = page_in(mapping);
    peers_.push_back({std::move(mapping), page, peer.bell, peer.started});
    numbers_.emplace(peer.identity, number);
    return number;
}

Status MappedFabric::send(int /*peer*/, std::span<const std::byte> /*header*/,
                          std::span<const std::byte> /*payload*/) noexcept
{
    return Status::unsupported;
}

Status MappedFabric::send_zero_copy(int /*peer*/, std::span<const std::byte> /*header*/,
                                    std::span<const std::byte> /*payload*/,
                                    Completion& /*sent*/) noexcept
{
    return Status::unsupported;
}

bool MappedFabric::poll(Receiver& /*receiver*/) noexcept { return false; }

Doorbell* MappedFabric::bell_of(int peer) noexcept
{
    ProcessPage* page = peers_[static_cast<std::size_t>(peer)].page;
    return page != nullptr ? &page->bell : nullptr;
}

/// The number of one whose page cannot be mapped may be that of another process here.
bool MappedFabric::has_ended(int peer) const noexcept
{
    const Peer& one = peers_[static_cast<std::size_t>(peer)];
    return one.page != nullptr && sidelight::has_ended(one.bell, one.started);
}

FastOutbox MappedFabric::claim_box(int peer) noexcept
{
    ProcessPage* page = peers_[static_cast<std::size_t>(peer)].page;
    return FastOutbox(page != nullptr ? page->boxes.claim() : nullptr, address_.identity);
}

} // namespace sidelight::fabric
