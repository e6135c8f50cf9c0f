// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/sending.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "fabric/ucx/active_messages.hpp"

namespace sidelight::fabric::ucx {

Sending::Sending(const Worker& worker, Connections& connections, const Delivery& delivery) noexcept
    : ucx_(worker.ucx()),
      connections_(connections),
      delivery_(delivery),
      max_header_(worker.max_header()),
      has_long_batches_(!worker.has_hardware())
{}

Sending::~Sending()
{
    for (Spare* spare : {&short_, &long_}) {
        while (!spare->batches.empty()) {
            delete static_cast<Batch*>(spare->batches.pop());
        }
    }
}

/// Null: there is no memory.
Batch* Sending::take_batch(Spare& spare) noexcept
{
    if (!spare.batches.empty()) {
        --spare.count;
        auto* batch = static_cast<Batch*>(spare.batches.pop());
        batch->frames.clear();
        return batch;
    }
    std::unique_ptr<std::byte[]> bytes(new (std::nothrow) std::byte[spare.capacity]);
    return bytes ? new (std::nothrow) Batch(*this, std::move(bytes), spare.capacity) : nullptr;
}

void Sending::give_back(Batch& batch) noexcept
{
    Spare& spare = spare_of(batch);
    if (spare.count == spare.most) {
        delete &batch;
        return;
    }
    ++spare.count;
    spare.batches.push_front(&batch);
}

/// Null: there is no memory.
Batch* Sending::open_batch(Peer& peer, bool more) noexcept
{
    Batch* batch = more && has_long_batches_ ? take_batch(long_) : nullptr;
    batch = batch != nullptr ? batch : take_batch(short_);
    peer.out.open = batch;
    if (batch != nullptr) {
        batch->peer = &peer;
        held_.push(peer);
    }
    return batch;
}

Status Sending::send(int number, std::span<const std::byte> header,
                     std::span<const std::byte> payload) noexcept
{
    const std::size_t bytes = header.size() + payload.size();
    if (bytes > max_message) {
        return Status::argument;
    }
    Peer& peer = connections_.peer(number);
    if (peer.failed) {
        return Status::ok;
    }
    const bool full = peer.out.open != nullptr && !peer.out.open->frames.fits(bytes);
    if (full) {
        depart_open_batch(peer);
        peer.out.filled = true;
    }
    const bool more = full || (peer.out.much && long_.count != 0); // nothing is made for the latter
    if (peer.out.open == nullptr && open_batch(peer, more) == nullptr) {
        connections_.fail(peer, UCS_ERR_NO_MEMORY);
        return Status::no_memory;
    }
    peer.out.open->frames.append(header, payload);
    return Status::ok;
}

void Sending::push() noexcept
{
    while (Peer* peer = held_.pop()) {
        depart_open_batch(*peer);
    }
}

/// Without payload. Throws std::bad_alloc.
std::unique_ptr<ZeroCopyMessage> Sending::make_message(Peer& peer,
                                                       std::span<const std::byte> header)
{
    auto message = std::make_unique<ZeroCopyMessage>(*this);
    const ZeroCopyHeader first{.sender = connections_.own_identity(), .after = peer.out.sent};
    message->header.resize(sizeof first + header.size());
    std::memcpy(message->header.data(), &first, sizeof first);
    std::copy(header.begin(), header.end(), message->header.begin() + sizeof first);
    message->peer = &peer;
    return message;
}

Status Sending::send_zero_copy(int number, std::span<const std::byte> header,
                               std::span<const std::byte> payload, Completion& sent) noexcept
{
    if (sizeof(ZeroCopyHeader) + header.size() > max_header_) {
        return Status::argument;
    }
    Peer* peer = nullptr;
    try {
        peer = &connections_.peer(number);
        depart_open_batch(*peer);
        auto message = make_message(*peer, header);
        message->payload = payload;
        message->sent = &sent;
        depart(*message.release());
        return Status::ok;
    } catch (const std::bad_alloc&) {
        if (peer != nullptr) {
            connections_.fail(*peer, UCS_ERR_NO_MEMORY);
        }
        return Status::no_memory;
    }
}

void Sending::depart_open_batch(Peer& peer) noexcept
{
    if (Batch* batch = std::exchange(peer.out.open, nullptr); batch != nullptr) {
        batch->sequence = peer.out.sent++;
        peer.out.much = peer.out.filled || batch->frames.sealed().size() > Batch::much;
        peer.out.filled = false;
        batch->frames.seal({.sender = connections_.own_identity(), .sequence = batch->sequence});
        depart(*batch);
    }
}

void Sending::depart(Outgoing& item) noexcept
{
    Peer& peer = *item.peer;
    if (peer.failed) {
        retire(item, UCS_ERR_CANCELED);
        return;
    }
    if (peer.endpoint == nullptr) {
        // A handler may not connect; and one whose address is not known yet cannot be connected.
        peer.out.waiting.push(&item);
        if (!peer.address.empty()) {
            delivery_.is_busy() ? unconnected_.push(peer) : connect(peer);
        }
        return;
    }
    if (peer.out.watched && item.kind == Outgoing::Kind::batch && put_into_box(item)) {
        retire(item, UCS_OK);
        return;
    }
    start(item);
}

void Sending::connect(Peer& peer) noexcept
{
    if (!connections_.connect(peer)) {
        return;
    }
    while (!peer.out.waiting.empty()) {
        start(*peer.out.waiting.pop());
    }
}

void Sending::reach(Peer& peer) noexcept
{
    if (!peer.out.waiting.empty()) {
        unconnected_.push(peer);
    }
}

void Sending::connect_requested() noexcept
{
    while (Peer* peer = unconnected_.pop()) {
        if (peer->endpoint == nullptr && !peer->failed) {
            connect(*peer);
        }
    }
}

bool Sending::put_into_box(Outgoing& item) noexcept
{
    const auto& batch = static_cast<Batch&>(item);
    return item.peer->out.box.put(batch.sequence, batch.frames.frames());
}

void Sending::start(Outgoing& item) noexcept
{
    item.peer->out.watched = true;
    ucp_request_param_t param{};
    param.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
    param.cb.send = on_sent;
    param.user_data = &item;
    ucs_status_ptr_t request = item.kind == Outgoing::Kind::batch
                                   ? start_batch(static_cast<Batch&>(item), param)
                                   : start_zero_copy(static_cast<ZeroCopyMessage&>(item), param);
    if (!UCS_PTR_IS_PTR(request)) {
        retire(item, UCS_PTR_RAW_STATUS(request));
        return;
    }
    ++item.peer->outstanding;
    if (item.kind == Outgoing::Kind::zero_copy) {
        item.peer->out.leaving.push_front(static_cast<ZeroCopyMessage*>(&item));
    }
}

ucs_status_ptr_t Sending::start_batch(Batch& batch, ucp_request_param_t& param) noexcept
{
    const std::span<const std::byte> bytes = batch.frames.sealed();
    param.flags = UCP_AM_SEND_FLAG_EAGER;
    return ucx_.am_send(batch.peer->endpoint, batch_id, nullptr, 0, bytes.data(), bytes.size(),
                        &param);
}

ucs_status_ptr_t Sending::start_zero_copy(ZeroCopyMessage& message,
                                          const ucp_request_param_t& param) noexcept
{
    return ucx_.am_send(message.peer->endpoint, zero_copy_id, message.header.data(),
                        message.header.size(), message.payload.data(), message.payload.size(),
                        &param);
}

void Sending::on_sent(void* request, ucs_status_t status, void* data) noexcept
{
    auto& item = *static_cast<Outgoing*>(data);
    Sending& sending = item.owner;
    sending.ucx_.request_free(request);
    --item.peer->outstanding;
    if (item.kind == Outgoing::Kind::zero_copy) {
        item.peer->out.leaving.remove(static_cast<ZeroCopyMessage*>(&item));
    }
    sending.retire(item, status);
}

void Sending::retire(Outgoing& item, ucs_status_t status) noexcept
{
    if (status != UCS_OK) {
        connections_.fail(*item.peer, status);
    }
    if (item.kind == Outgoing::Kind::batch) {
        give_back(static_cast<Batch&>(item));
        return;
    }
    static_cast<ZeroCopyMessage&>(item).status = status == UCS_OK ? Status::ok : Status::other;
    finished_.push(&item);
}

bool Sending::tell_finished() noexcept
{
    // Those that finish meanwhile are told next time, so that this ends.
    auto telling = std::exchange(finished_, {});
    const bool any = !telling.empty();
    while (!telling.empty()) {
        const std::unique_ptr<ZeroCopyMessage> message(
            static_cast<ZeroCopyMessage*>(telling.pop()));
        if (message->sent != nullptr) {
            message->sent->finished(*message->sent, message->status);
        }
    }
    return any;
}

void Sending::abandon(Peer& peer) noexcept
{
    if (Batch* batch = std::exchange(peer.out.open, nullptr); batch != nullptr) {
        retire(*batch, UCS_ERR_CANCELED);
    }
    while (!peer.out.waiting.empty()) {
        retire(*peer.out.waiting.pop(), UCS_ERR_CANCELED);
    }
}

/// UCX (1.13, shared memory) forgets some of the requests of an endpoint that is closed by force.
/// It does not look at their payloads any more then, so they are over.
void Sending::tell_forgotten(Peer& peer) noexcept
{
    using Leaving = decltype(peer.out.leaving);
    for (ZeroCopyMessage* message = peer.out.leaving.front(); message != nullptr;
         message = Leaving::after(*message)) {
        if (Completion* sent = std::exchange(message->sent, nullptr); sent != nullptr) {
            sent->finished(*sent, Status::other);
        }
    }
}

} // namespace sidelight::fabric::ucx
