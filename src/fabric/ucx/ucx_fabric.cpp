// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/ucx_fabric.hpp"

#include <stdexcept>

#include "base/log.hpp"
#include "base/system_limits.hpp"
#include "fabric/ucx/transports.hpp"

namespace sidelight::fabric {
namespace ucx {

UcxFabric::UcxFabric(const Library& ucx, PeerNumbers& numbers, const NetworkOptions& options)
    : worker_(ucx, options.transports),
      connections_(worker_, numbers),
      sending_(worker_, connections_, delivery_),
      receiving_(worker_, connections_, delivery_, options.inbox),
      registrations_(worker_),
      transfers_(worker_, connections_, delivery_),
      open_memories_(worker_, transfers_, options.always_access)
{}

int UcxFabric::meet(std::uint64_t identity, std::span<const std::byte> address)
{
    Peer& peer = connections_.peer_with(identity);
    if (peer.address.empty()) {
        peer.address.assign(address.begin(), address.end());
        sending_.reach(peer);
    }
    return peer.number;
}

void UcxFabric::use_box(int number, FastOutbox box) { connections_.peer(number).out.box = box; }

void UcxFabric::note_end(int number) noexcept
{
    connections_.fail(connections_.peer(number), UCS_ERR_CONNECTION_RESET);
}

Status UcxFabric::send(int number, std::span<const std::byte> header,
                       std::span<const std::byte> payload) noexcept
{
    return sending_.send(number, header, payload);
}

Status UcxFabric::send_zero_copy(int number, std::span<const std::byte> header,
                                 std::span<const std::byte> payload, Completion& sent) noexcept
{
    return sending_.send_zero_copy(number, header, payload, sent);
}

void UcxFabric::push() noexcept
{
    sending_.push();
    if (transfers_.has_unflushed()) {
        transfers_.flush_requested();
    }
}

bool UcxFabric::accesses(int number) noexcept
{
    return open_memories_.accesses(connections_.peer(number));
}

bool UcxFabric::expose(std::span<std::byte> memory, ExposedMemory& exposed) noexcept
{
    return registrations_.expose(memory, exposed);
}

void UcxFabric::conceal(ExposedMemory& exposed) noexcept { registrations_.conceal(exposed); }

std::unique_ptr<RemoteMemory> UcxFabric::open(int number, std::span<const std::byte> key) noexcept
{
    return open_memories_.open(connections_.peer(number), key);
}

bool UcxFabric::poll(Receiver& receiver) noexcept
{
    delivery_.begin(receiver);
    bool moved = receiving_.look();
    if (has_news()) {
        moved = tell_news() || moved;
    }
    delivery_.end();
    return moved;
}

/// Whether there is something to tell the receiver, or to do, outside of UCX's handlers.
bool UcxFabric::has_news() const noexcept
{
    return sending_.has_news() || receiving_.has_news() || transfers_.has_news() ||
           connections_.has_news();
}

bool UcxFabric::tell_news() noexcept
{
    bool moved = receiving_.hand_over_ready();
    sending_.connect_requested();
    moved = receiving_.tell_placed() || moved;
    moved = sending_.tell_finished() || moved;
    moved = transfers_.tell_over() || moved;
    transfers_.flush_requested();
    part_from_failed();
    return tell_lost() || moved;
}

/// What it had left in its box is older than its end.
void UcxFabric::part_from_failed() noexcept
{
    if (!connections_.has_failed()) {
        return;
    }
    receiving_.take_boxes();
    while (Peer* peer = connections_.next_failed()) { // more may fail meanwhile
        part_from(*peer);
        connections_.await_end(*peer);
    }
}

/// Gives up what was meant for a peer or came too early from it.
void UcxFabric::part_from(Peer& peer) noexcept
{
    Connections::give_up(peer);
    sending_.abandon(peer);
    transfers_.abandon(peer);
    receiving_.abandon(peer);
    connections_.close(peer);
}

/// Until then UCX may read and write what the receiver would take for its own again.
bool UcxFabric::tell_lost() noexcept
{
    bool any = false;
    while (Peer* peer = connections_.next_ended()) {
        delivery_.receiver().lost(peer->number);
        tell_forgotten(*peer);
        any = true;
    }
    return any;
}

void UcxFabric::tell_forgotten(Peer& peer) noexcept
{
    Transfers::tell_forgotten(peer);
    Sending::tell_forgotten(peer);
}

/// News of UCX's are for the next look, unless a box brings something in that.
Arming UcxFabric::arm() noexcept
{
    const Arming arming =
        has_news() || !receiving_.has_empty_boxes() ? Arming::news : worker_.arm();
    if (arming == Arming::news) {
        receiving_.look_everywhere();
    }
    return arming;
}

} // namespace ucx

/// Some of UCX ends the process when it is refused what it begins with.
ReasonText lack_for_network() noexcept
{
    constexpr int files = 32; // a worker has about 15, and some for each network and peer
    // Its thread's stack and heap, its buffers, and the queues of some peers.
    constexpr std::size_t addresses = std::size_t{128} << 20;
    const ReasonText lack = lack_of_files(files);
    return lack ? lack : lack_of_addresses(addresses);
}

std::unique_ptr<NetworkFabric> open_network(PeerNumbers& numbers, const NetworkOptions& options)
{
    if (const ReasonText lack = lack_for_network()) {
        log(LogLevel::error,
            "no network: %s; until then windows that need messages are left to the host MPI",
            lack.c_str());
        return nullptr;
    }
    const ucx::Library* library = ucx::Library::load(options.library);
    if (library == nullptr) {
        return nullptr;
    }
    std::string failure;
    for (const std::string& transports : ucx::choices(options.transports)) {
        try {
            NetworkOptions chosen = options;
            chosen.transports = transports;
            auto network = std::make_unique<ucx::UcxFabric>(*library, numbers, chosen);
            if (!failure.empty()) {
                log(LogLevel::info, "%s; tried again with the transports %s", failure.c_str(),
                    transports.c_str());
            }
            return network;
        } catch (const std::runtime_error& error) {
            failure = error.what();
        }
    }
    log(LogLevel::error,
        "no network: %s; SIDELIGHT_NETWORK, or UCX_TLS, says which transports UCX may use; "
        "until then windows that need messages are left to the host MPI",
        failure.c_str());
    return nullptr;
}

} // namespace sidelight::fabric
