// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/connections.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "fabric/ucx/transports.hpp"

namespace sidelight::fabric::ucx {
namespace {

/// So long UCX may take with what it has of a peer that is lost: it ends endpoints bit by bit, in
/// later polls, and forgets some requests. A program may poll seldom: that much it does at least.
constexpr std::chrono::milliseconds longest_end{500};
constexpr unsigned fewest_turns = 16;

} // namespace

Connections::Connections(Worker& worker, PeerNumbers& numbers) noexcept
    : worker_(worker), ucx_(worker.ucx()), numbers_(numbers)
{}

Peer& Connections::add(std::size_t index)
{
    if (index >= peers_.size()) {
        peers_.resize(std::max<std::size_t>(index + 1, 2 * peers_.size()));
    }
    peers_[index] = std::make_unique<Peer>(*this, static_cast<int>(index));
    return *peers_[index];
}

/// Most messages come from the sender of the one before.
Peer& Connections::peer_with(std::uint64_t identity)
{
    auto& [latest, found] = latest_;
    if (found == nullptr || latest != identity) {
        found = &peer(numbers_.number(identity));
        latest = identity;
    }
    return *found;
}

bool Connections::connect(Peer& peer) noexcept
{
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                        UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.address = reinterpret_cast<const ucp_address_t*>(peer.address.data());
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler.cb = on_error;
    params.err_handler.arg = &peer;
    const ucs_status_t status = ucx_.ep_create(worker_.handle(), &params, &peer.endpoint);
    if (status != UCS_OK) {
        peer.endpoint = nullptr;
        log(LogLevel::error, "cannot connect to peer %d: %s", peer.number,
            ucx_.status_string(status));
        if (status == UCS_ERR_UNREACHABLE) {
            explain_unreachable(worker_.transports());
        }
        fail(peer, status);
    }
    return status == UCS_OK;
}

void Connections::on_error(void* data, ucp_ep_h /*endpoint*/, ucs_status_t status) noexcept
{
    auto& peer = *static_cast<Peer*>(data);
    peer.owner.fail(peer, status);
}

void Connections::fail(Peer& peer, ucs_status_t status) noexcept
{
    if (!peer.failed) {
        peer.failed = true;
        log(status == UCS_ERR_NO_MEMORY ? LogLevel::error : LogLevel::debug, "peer %d is lost: %s",
            peer.number, ucx_.status_string(status));
        failed_.push(peer);
    }
}

void Connections::give_up(Peer& peer) noexcept
{
    peer.failed = true;
    peer.lost = true;
}

void Connections::close(Peer& peer) noexcept
{
    ucp_ep_h endpoint = std::exchange(peer.endpoint, nullptr);
    if (endpoint == nullptr) {
        return;
    }
    ucp_request_param_t param{};
    param.op_attr_mask =
        UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.flags = UCP_EP_CLOSE_FLAG_FORCE;
    param.cb.send = on_closed;
    param.user_data = &peer;
    closing_ += UCS_PTR_IS_PTR(ucx_.ep_close(endpoint, &param)) ? 1 : 0;
}

void Connections::on_closed(void* request, ucs_status_t /*status*/, void* data) noexcept
{
    Connections& connections = static_cast<Peer*>(data)->owner;
    connections.ucx_.request_free(request);
    --connections.closing_;
}

void Connections::await_end(Peer& peer) noexcept
{
    peer.end = {.limit = now() + longest_end, .progressed = worker_.progressed() + fewest_turns};
    parting_.push(peer);
}

/// In the order in which they were lost, so that each waits for its own limit at most.
Peer* Connections::next_ended() noexcept
{
    Peer* peer = parting_.front();
    if (peer == nullptr) {
        return nullptr;
    }
    const bool has_had_time =
        worker_.progressed() > peer->end.progressed && now() > peer->end.limit;
    return peer->outstanding == 0 || has_had_time ? parting_.pop() : nullptr;
}

bool Connections::is_idle() const noexcept
{
    return std::all_of(peers_.begin(), peers_.end(),
                       [](const auto& peer) { return !peer || peer->outstanding == 0; });
}

bool Connections::has_left() const noexcept
{
    return std::all_of(peers_.begin(), peers_.end(), [](const auto& peer) {
        return !peer || peer->lost || peer->outstanding == 0;
    });
}

} // namespace sidelight::fabric::ucx
