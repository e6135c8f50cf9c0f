// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/transfers.hpp"

#include <new>
#include <utility>

namespace sidelight::fabric::ucx {

Transfers::Transfers(const Worker& worker, Connections& connections,
                     const Delivery& delivery) noexcept
    : ucx_(worker.ucx()), worker_(worker.handle()), connections_(connections), delivery_(delivery)
{}

Transfers::~Transfers()
{
    for (Fifo<Transfer>* list : {&spare_, &over_}) {
        while (!list->empty()) {
            delete list->pop();
        }
    }
}

/// Null: there is no memory.
Transfer* Transfers::take(Peer& peer, bool put, Completion& done) noexcept
{
    Transfer* transfer = spare_.empty() ? new (std::nothrow) Transfer(*this) : spare_.pop();
    if (transfer != nullptr) {
        transfer->peer = &peer;
        transfer->done = &done;
        transfer->requests = 1; // the call that starts it
        transfer->flushed = !put;
        transfer->begun = false;
        transfer->status = Status::ok;
    }
    return transfer;
}

Access Transfers::start(const RemotePlace& place, bool put, std::span<const AccessPiece> pieces,
                        Completion& done) noexcept
{
    Peer& peer = place.peer;
    if (place.key == nullptr || peer.failed || peer.endpoint == nullptr) {
        return Access::failed;
    }
    Transfer* transfer = take(peer, put, done);
    if (transfer == nullptr) {
        return Access::failed;
    }
    for (const AccessPiece& piece : pieces) {
        start_piece(place, *transfer, piece);
    }
    // A put is not over with its requests: what UCX has taken may land until it is flushed.
    if (put ? !transfer->begun : transfer->requests == 1) {
        const bool failed = transfer->status != Status::ok;
        spare_.push(transfer);
        return failed ? Access::failed : Access::complete;
    }
    peer.memory.transfers.push_front(transfer);
    if (put) {
        peer.memory.unflushed.push(transfer);
        request_flush(peer);
    }
    const bool free = --transfer->requests == 0 && transfer->status == Status::ok;
    end_if_over(*transfer);
    return put && free ? Access::left : Access::pending;
}

void Transfers::start_piece(const RemotePlace& place, Transfer& transfer,
                            const AccessPiece& piece) noexcept
{
    if (transfer.status != Status::ok) {
        return;
    }
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.cb.send = on_accessed;
    param.user_data = &transfer;
    const std::uint64_t there = place.base + piece.there;
    ucs_status_ptr_t request =
        transfer.flushed
            ? ucx_.get(place.peer.endpoint, piece.here, piece.bytes, there, place.key, &param)
            : ucx_.put(place.peer.endpoint, piece.here, piece.bytes, there, place.key, &param);
    if (UCS_PTR_IS_PTR(request)) {
        ++transfer.requests;
        ++place.peer.outstanding;
    } else if (UCS_PTR_RAW_STATUS(request) != UCS_OK) {
        transfer.status = Status::other;
        return;
    }
    transfer.begun = true;
}

void Transfers::on_accessed(void* request, ucs_status_t status, void* data) noexcept
{
    auto& transfer = *static_cast<Transfer*>(data);
    Transfers& transfers = transfer.owner;
    transfers.ucx_.request_free(request);
    --transfer.peer->outstanding;
    --transfer.requests;
    if (status != UCS_OK) {
        transfer.status = Status::other;
        transfers.connections_.fail(*transfer.peer, status);
    }
    if (transfer.requests == 0 && !transfer.flushed && transfer.status == Status::ok) {
        transfer.next_left = std::exchange(transfers.left_, &transfer);
    }
    transfers.end_if_over(transfer);
}

/// It is told by the next poll.
void Transfers::end_if_over(Transfer& transfer) noexcept
{
    if (transfer.requests == 0 && transfer.flushed) {
        transfer.peer->memory.transfers.remove(&transfer);
        over_.push(&transfer);
    }
}

/// What has left may be over meanwhile, and is still there: that is told afterwards.
void Transfers::tell_left() noexcept
{
    Transfer* next = std::exchange(left_, nullptr);
    while (next != nullptr) {
        Completion* done = next->done;
        next = next->next_left;
        if (done != nullptr && done->left != nullptr) {
            done->left(*done);
        }
    }
}

bool Transfers::tell_over() noexcept
{
    bool any = left_ != nullptr;
    tell_left();
    auto telling = std::exchange(over_, {});
    any = any || !telling.empty();
    while (!telling.empty()) {
        Transfer* transfer = telling.pop();
        Completion* done = transfer->done;
        const Status status = transfer->status;
        spare_.push(transfer);
        if (done != nullptr) {
            done->finished(*done, status);
        }
    }
    return any;
}

/// One flush at a time for each peer: UCX allows few, and one covers all puts before it.
void Transfers::request_flush(Peer& peer) noexcept
{
    if (!peer.memory.flush_under_way) {
        unflushed_.push(peer);
    }
}

void Transfers::flush_requested() noexcept
{
    if (delivery_.is_busy()) {
        return;
    }
    while (Peer* peer = unflushed_.pop()) {
        flush(*peer);
    }
}

void Transfers::flush(Peer& peer) noexcept
{
    if (peer.memory.unflushed.empty() || peer.endpoint == nullptr) {
        return;
    }
    peer.memory.flushing = std::exchange(peer.memory.unflushed, {});
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.cb.send = on_flushed;
    param.user_data = peer.memory.flushing.front(); // knows owner and peer
    ucs_status_ptr_t request = ucx_.ep_flush(peer.endpoint, &param);
    if (UCS_PTR_IS_PTR(request)) {
        peer.memory.flush_under_way = true;
        ++peer.outstanding;
    } else {
        end_flush(peer, UCS_PTR_RAW_STATUS(request));
    }
}

void Transfers::on_flushed(void* request, ucs_status_t status, void* data) noexcept
{
    const auto& oldest = *static_cast<const Transfer*>(data);
    Transfers& transfers = oldest.owner;
    Peer& peer = *oldest.peer;
    transfers.ucx_.request_free(request);
    --peer.outstanding;
    peer.memory.flush_under_way = false;
    transfers.end_flush(peer, status);
    if (!peer.memory.unflushed.empty()) {
        transfers.request_flush(peer);
    }
}

void Transfers::end_flush(Peer& peer, ucs_status_t status) noexcept
{
    while (!peer.memory.flushing.empty()) {
        Transfer& transfer = *peer.memory.flushing.pop();
        transfer.flushed = true;
        transfer.status = status == UCS_OK ? transfer.status : Status::other;
        end_if_over(transfer);
    }
    if (status != UCS_OK) {
        connections_.fail(peer, status);
    }
}

void Transfers::abandon(Peer& peer) noexcept
{
    while (!peer.memory.unflushed.empty()) {
        Transfer& transfer = *peer.memory.unflushed.pop();
        transfer.flushed = true;
        transfer.status = Status::other;
        end_if_over(transfer);
    }
}

/// They are over, as far as anybody waits for them.
void Transfers::tell_forgotten(Peer& peer) noexcept
{
    using List = decltype(peer.memory.transfers);
    for (Transfer* transfer = peer.memory.transfers.front(); transfer != nullptr;
         transfer = List::after(*transfer)) {
        if (Completion* done = std::exchange(transfer->done, nullptr); done != nullptr) {
            done->finished(*done, Status::other);
        }
    }
}

} // namespace sidelight::fabric::ucx
