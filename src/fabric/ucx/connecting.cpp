// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.hpp"
#include "fabric/ucx/ucx_fabric.hpp"

/// From the first message to a peer to its loss.
namespace sidelight::fabric::ucx {

void UcxFabric::connect(Peer& peer) noexcept
{
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                        UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.address = reinterpret_cast<const ucp_address_t*>(peer.address.data());
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler.cb = on_error;
    params.err_handler.arg = &peer;
    const ucs_status_t status = ucx_.ep_create(worker_, &params, &peer.endpoint);
    if (status != UCS_OK) {
        peer.endpoint = nullptr;
        log(LogLevel::error, "cannot connect to peer %d: %s", peer.number,
            ucx_.status_string(status));
        fail(peer, status);
        return;
    }
    while (Outgoing* item = peer.waiting.take()) {
        start(*item);
    }
}

void UcxFabric::request_connection(Peer& peer) noexcept
{
    if (!peer.to_connect) {
        peer.to_connect = true;
        to_connect_.push_back(&peer);
    }
}

void UcxFabric::connect_requested() noexcept
{
    for (Peer* peer : to_connect_) {
        peer->to_connect = false;
        if (peer->endpoint == nullptr && !peer->failed) {
            connect(*peer);
        }
    }
    to_connect_.clear();
}

void UcxFabric::on_error(void* data, ucp_ep_h /*endpoint*/, ucs_status_t status) noexcept
{
    auto& peer = *static_cast<Peer*>(data);
    peer.fabric.fail(peer, status);
}

void UcxFabric::fail(Peer& peer, ucs_status_t status) noexcept
{
    if (!peer.failed) {
        peer.failed = true;
        log(LogLevel::debug, "peer %d is lost: %s", peer.number, ucx_.status_string(status));
        failed_.push_back(&peer);
    }
}

/// Gives up what was meant for a peer or came too early from it.
void UcxFabric::abandon(Peer& peer) noexcept
{
    if (Batch* batch = std::exchange(peer.open, nullptr); batch != nullptr) {
        retire(*batch, UCS_ERR_CANCELED);
    }
    while (Outgoing* item = peer.waiting.take()) {
        retire(*item, UCS_ERR_CANCELED);
    }
    abandon_accesses(peer);
    peer.early.clear();
    for (const EarlyZeroCopy& message : peer.early_zero_copy) {
        if (message.descriptor != nullptr) {
            ucx_.am_data_release(worker_, message.descriptor);
        }
    }
    peer.early_zero_copy.clear();
}

/// What it had left in its box is older than its end.
bool UcxFabric::tell_lost() noexcept
{
    const bool any = !failed_.empty();
    if (any) {
        take_boxes();
    }
    for (std::size_t next = 0; next < failed_.size(); ++next) { // more may fail meanwhile
        Peer& peer = *failed_[next];
        peer.lost = true;
        abandon(peer);
        close_endpoint(peer);
        receiver_->lost(peer.number);
    }
    failed_.clear();
    return any;
}

/// Ends a connection that need not be flushed. Requests on it finish with an error.
void UcxFabric::close_endpoint(Peer& peer) noexcept
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
    if (UCS_PTR_IS_PTR(ucx_.ep_close(endpoint, &param))) {
        ++ending_;
    } else {
        closed_.push_back(&peer);
    }
}

void UcxFabric::on_closed(void* request, ucs_status_t /*status*/, void* data) noexcept
{
    auto& peer = *static_cast<Peer*>(data);
    peer.fabric.ucx_.request_free(request);
    --peer.fabric.ending_;
    peer.fabric.closed_.push_back(&peer);
}

/// UCX (1.13, shared memory) forgets some of the requests of an endpoint that is closed by force.
/// It does not look at their payloads any more, so they are over.
bool UcxFabric::tell_closed() noexcept
{
    const bool any = !closed_.empty();
    for (std::size_t next = 0; next < closed_.size(); ++next) {
        tell_closed_accesses(*closed_[next]);
        for (ZeroCopyMessage* message = closed_[next]->leaving; message != nullptr;
             message = message->after) {
            if (Completion* sent = std::exchange(message->sent, nullptr); sent != nullptr) {
                sent->finished(*sent, Status::other);
            }
        }
    }
    closed_.clear();
    return any;
}

} // namespace sidelight::fabric::ucx
