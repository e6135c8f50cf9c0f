// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <new>

#include "fabric/ucx/active_messages.hpp"
#include "fabric/ucx/ucx_fabric.hpp"

/// The way out: messages are put into a peer's open batch, the batch departs when it is full or
/// pushed, waits until there is a connection, and is handed to UCX.
namespace sidelight::fabric::ucx {

Batch* UcxFabric::take_batch() noexcept
{
    if (Outgoing* spare = spare_batches_.take(); spare != nullptr) {
        auto* batch = static_cast<Batch*>(spare);
        batch->clear();
        return batch;
    }
    return new (std::nothrow) Batch(*this);
}

Status UcxFabric::send(int number, std::span<const std::byte> header,
                       std::span<const std::byte> payload) noexcept
{
    const std::size_t bytes = header.size() + payload.size();
    if (bytes > max_message) {
        return Status::argument;
    }
    Peer& peer = peer_of(number);
    if (peer.failed) {
        return Status::ok;
    }
    if (peer.open != nullptr && !peer.open->frames.fits(bytes)) {
        depart_open_batch(peer);
    }
    if (peer.open == nullptr) {
        peer.open = take_batch();
        if (peer.open == nullptr) {
            return Status::no_memory;
        }
        peer.open->peer = &peer;
        if (!peer.held) {
            peer.held = true;
            held_.push_back(&peer);
        }
    }
    peer.open->frames.append(header, payload);
    return Status::ok;
}

void UcxFabric::push() noexcept
{
    for (Peer* peer : held_) {
        peer->held = false;
        depart_open_batch(*peer);
    }
    held_.clear();
    if (!to_flush_.empty()) {
        flush_requested();
    }
}

Status UcxFabric::send_zero_copy(int number, std::span<const std::byte> header,
                                 std::span<const std::byte> payload, Completion& sent) noexcept
try {
    if (sizeof(ZeroCopyHeader) + header.size() > max_header_) {
        return Status::argument;
    }
    Peer& peer = peer_of(number);
    depart_open_batch(peer);
    auto message = std::make_unique<ZeroCopyMessage>(*this);
    const ZeroCopyHeader first{.sender = numbers_.own_identity(), .after = peer.sent};
    message->header.resize(sizeof first + header.size());
    std::memcpy(message->header.data(), &first, sizeof first);
    std::copy(header.begin(), header.end(), message->header.begin() + sizeof first);
    message->peer = &peer;
    message->payload = payload;
    message->sent = &sent;
    depart(*message.release());
    return Status::ok;
} catch (const std::bad_alloc&) {
    return Status::no_memory;
}

void UcxFabric::depart_open_batch(Peer& peer) noexcept
{
    if (Batch* batch = std::exchange(peer.open, nullptr); batch != nullptr) {
        batch->sequence = peer.sent++;
        batch->frames.seal({.sender = numbers_.own_identity(), .sequence = batch->sequence});
        depart(*batch);
    }
}

void UcxFabric::depart(Outgoing& item) noexcept
{
    Peer& peer = *item.peer;
    if (peer.failed) {
        retire(item, UCS_ERR_CANCELED);
        return;
    }
    if (peer.endpoint == nullptr) {
        // A handler may not connect; and one whose address is not known yet cannot be connected.
        peer.waiting.append(item);
        if (!peer.address.empty()) {
            handing_over_ ? request_connection(peer) : connect(peer);
        }
        return;
    }
    if (peer.watched && item.kind == Outgoing::Kind::batch && put_into_box(item)) {
        retire(item, UCS_OK);
        return;
    }
    start(item);
}

bool UcxFabric::put_into_box(Outgoing& item) noexcept
{
    const auto& batch = static_cast<Batch&>(item);
    return item.peer->box.put(batch.sequence, batch.frames.frames());
}

void UcxFabric::start(Outgoing& item) noexcept
{
    item.peer->watched = true;
    ucp_request_param_t param{};
    param.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
    param.cb.send = on_sent;
    param.user_data = &item;
    ucs_status_ptr_t request = nullptr;
    if (item.kind == Outgoing::Kind::batch) {
        auto& batch = static_cast<Batch&>(item);
        const std::span<const std::byte> bytes = batch.frames.sealed();
        param.flags = UCP_AM_SEND_FLAG_EAGER;
        request = ucx_.am_send(item.peer->endpoint, batch_id, nullptr, 0, bytes.data(),
                               bytes.size(), &param);
    } else {
        auto& message = static_cast<ZeroCopyMessage&>(item);
        request = ucx_.am_send(item.peer->endpoint, zero_copy_id, message.header.data(),
                               message.header.size(), message.payload.data(),
                               message.payload.size(), &param);
    }
    if (!UCS_PTR_IS_PTR(request)) {
        retire(item, UCS_PTR_RAW_STATUS(request));
        return;
    }
    ++item.peer->outstanding;
    if (item.kind == Outgoing::Kind::zero_copy) {
        link(static_cast<ZeroCopyMessage&>(item));
    }
}

void UcxFabric::on_sent(void* request, ucs_status_t status, void* data) noexcept
{
    auto& item = *static_cast<Outgoing*>(data);
    UcxFabric& fabric = item.fabric;
    fabric.ucx_.request_free(request);
    --item.peer->outstanding;
    if (item.kind == Outgoing::Kind::zero_copy) {
        unlink(static_cast<ZeroCopyMessage&>(item));
    }
    fabric.retire(item, status);
}

void UcxFabric::link(ZeroCopyMessage& message) noexcept
{
    message.after = std::exchange(message.peer->leaving, &message);
    if (message.after != nullptr) {
        message.after->before = &message;
    }
}

void UcxFabric::unlink(ZeroCopyMessage& message) noexcept
{
    (message.before != nullptr ? message.before->after : message.peer->leaving) = message.after;
    if (message.after != nullptr) {
        message.after->before = message.before;
    }
}

void UcxFabric::retire(Outgoing& item, ucs_status_t status) noexcept
{
    if (status != UCS_OK) {
        fail(*item.peer, status);
    }
    if (item.kind == Outgoing::Kind::batch) {
        spare_batches_.append(item);
        return;
    }
    static_cast<ZeroCopyMessage&>(item).status = status == UCS_OK ? Status::ok : Status::other;
    finished_.append(item);
}

bool UcxFabric::tell_finished() noexcept
{
    // Those that finish meanwhile are told next time, so that this ends.
    OutgoingList telling = std::exchange(finished_, {});
    const bool any = !telling.empty();
    while (Outgoing* item = telling.take()) {
        const std::unique_ptr<ZeroCopyMessage> message(static_cast<ZeroCopyMessage*>(item));
        if (message->sent != nullptr) {
            message->sent->finished(*message->sent, message->status);
        }
    }
    return any;
}

} // namespace sidelight::fabric::ucx
