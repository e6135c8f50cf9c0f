// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/receiving.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/log.hpp"
#include "fabric/ucx/active_messages.hpp"

namespace sidelight::fabric::ucx {
namespace {

std::span<const std::byte> bytes_at(const void* data, std::size_t bytes) noexcept
{
    return {static_cast<const std::byte*>(data), bytes};
}

} // namespace

Receiving::Receiving(Worker& worker, Connections& connections, Delivery& delivery, FastInbox* inbox)
    : worker_(worker),
      connections_(connections),
      delivery_(delivery),
      payloads_(worker, connections, delivery),
      inbox_(inbox),
      aligned_(std::make_unique_for_overwrite<std::byte[]>(Batch::long_capacity))
{
    worker.receive_messages(batch_id, on_batch, this);
    worker.receive_messages(zero_copy_id, on_zero_copy, this);
}

/// A look at UCX takes longer than one at the boxes: while these bring messages it has its turn,
/// and no more; unless one of them came early, because what was sent before it comes by UCX.
bool Receiving::look() noexcept
{
    constexpr unsigned looks_after_message = 64;
    constexpr auto looks_per_turn = static_cast<unsigned>(Fabric::polls_for_all);
    const bool boxed = take_boxes();
    if (boxed) {
        boxes_only_ = boxes_only_ % looks_per_turn + looks_after_message;
    }
    if (!ready_.empty()) {
        boxes_only_ = 0;
    }
    if (boxes_only_ != 0 && --boxes_only_ % looks_per_turn != 0) {
        return boxed;
    }
    return worker_.progress() || boxed;
}

bool Receiving::take_boxes() noexcept
{
    return inbox_ != nullptr && inbox_->take([this](const FastMessage& batch) noexcept {
        take_batch(batch.sender, batch.number, batch.bytes);
    });
}

ucs_status_t Receiving::on_batch(void* receiving, const void* /*header*/, size_t /*header_bytes*/,
                                 void* data, size_t bytes,
                                 const ucp_am_recv_param_t* /*param*/) noexcept
{
    const auto message = bytes_at(data, bytes);
    const auto header = read_plain<BatchHeader>(message);
    if (!header) {
        log(LogLevel::error, "a batch of %zu bytes is dropped: too short", bytes);
        return UCS_OK;
    }
    static_cast<Receiving*>(receiving)->take_batch(header->sender, header->sequence,
                                                   message.subspan(sizeof(BatchHeader)));
    return UCS_OK;
}

/// Null: it is not known, and there is no memory to know it.
Peer* Receiving::sender(std::uint64_t identity) noexcept
try {
    return &connections_.peer_with(identity);
} catch (const std::bad_alloc&) {
    log(LogLevel::error, "out of memory: a message of an unknown process is dropped");
    return nullptr;
}

/// What comes early, by `insert`. False: there is no memory, and the peer has failed.
template <typename Insert>
bool Receiving::keep(Peer& peer, Insert insert) noexcept
try {
    insert();
    ready_.push(peer);
    return true;
} catch (const std::bad_alloc&) {
    connections_.fail(peer, UCS_ERR_NO_MEMORY);
    return false;
}

void Receiving::take_batch(std::uint64_t identity, std::uint64_t sequence,
                           std::span<const std::byte> frames) noexcept
{
    Peer* peer = sender(identity);
    if (peer == nullptr || peer->lost) {
        return;
    }
    if (sequence == peer->in.received && delivery_.is_possible()) {
        hand_over(*peer, frames);
        if (!peer->in.early.empty() || !peer->in.early_zero_copy.empty()) {
            hand_over_early(*peer);
        }
    } else if (sequence >= peer->in.received) {
        keep(*peer, [&] { peer->in.early.try_emplace(sequence, frames.begin(), frames.end()); });
    } else {
        log(LogLevel::error, "batch %llu of peer %d is dropped",
            static_cast<unsigned long long>(sequence), peer->number);
    }
}

void Receiving::hand_over(Peer& peer, std::span<const std::byte> frames) noexcept
{
    const bool aligned = reinterpret_cast<std::uintptr_t>(frames.data()) % frame_alignment == 0;
    if (!aligned && frames.size() <= Batch::long_capacity) {
        std::memcpy(aligned_.get(), frames.data(), frames.size());
        frames = {aligned_.get(), frames.size()};
    }
    FrameReader reader(frames);
    {
        const Delivery::Call receiver(delivery_);
        while (const auto message = reader.next()) {
            receiver->receive(peer.number, *message);
        }
    }
    ++peer.in.received;
    if (reader.malformed()) {
        log(LogLevel::error, "a batch of peer %d is malformed", peer.number);
    }
}

ucs_status_t Receiving::on_zero_copy(void* receiving, const void* header, size_t header_bytes,
                                     void* data, size_t bytes,
                                     const ucp_am_recv_param_t* param) noexcept
{
    return static_cast<Receiving*>(receiving)->take_zero_copy(
        bytes_at(header, header_bytes), data, bytes,
        (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0);
}

ucs_status_t Receiving::take_zero_copy(std::span<const std::byte> message, void* data,
                                       std::size_t bytes, bool is_descriptor) noexcept
{
    const auto first = read_plain<ZeroCopyHeader>(message);
    if (!first) {
        log(LogLevel::error, "a zero-copy message is dropped: its header is too short");
        return UCS_OK;
    }
    Peer* peer = sender(first->sender);
    if (peer == nullptr || peer->lost) {
        return UCS_OK;
    }
    const auto header = message.subspan(sizeof(ZeroCopyHeader));
    const auto payload = bytes_at(data, is_descriptor ? 0 : bytes);
    bool taken = true;
    if (first->after > peer->in.received || !delivery_.is_possible()) {
        taken = keep(*peer, [&] {
            peer->in.early_zero_copy.push_back({.after = first->after,
                                                .header = {header.begin(), header.end()},
                                                .bytes = bytes,
                                                .payload = {payload.begin(), payload.end()},
                                                .descriptor = is_descriptor ? data : nullptr});
        });
    } else if (is_descriptor) {
        taken = payloads_.fetch(*peer, header, data, bytes);
    } else {
        payloads_.copy(*peer, header, payload);
    }
    return is_descriptor && taken ? UCS_INPROGRESS : UCS_OK;
}

void Receiving::hand_over_early(Peer& peer) noexcept
{
    PeerIn& in = peer.in;
    for (;;) {
        const auto message =
            std::find_if(in.early_zero_copy.begin(), in.early_zero_copy.end(),
                         [&](const EarlyZeroCopy& early) { return early.after <= in.received; });
        if (message != in.early_zero_copy.end()) {
            const EarlyZeroCopy taken = std::move(*message);
            in.early_zero_copy.erase(message);
            hand_over_early(peer, taken);
            continue;
        }
        const auto batch = in.early.find(in.received);
        if (batch == in.early.end()) {
            return;
        }
        const std::vector<std::byte> frames = std::move(batch->second);
        in.early.erase(batch);
        hand_over(peer, frames);
    }
}

void Receiving::hand_over_early(Peer& peer, const EarlyZeroCopy& message) noexcept
{
    if (message.descriptor == nullptr) {
        payloads_.copy(peer, message.header, message.payload);
    } else if (!payloads_.fetch(peer, message.header, message.descriptor, message.bytes)) {
        worker_.release(message.descriptor);
    }
}

bool Receiving::hand_over_ready() noexcept
{
    const bool any = !ready_.empty();
    while (Peer* peer = ready_.pop()) { // more may be ready meanwhile
        hand_over_early(*peer);
    }
    return any;
}

void Receiving::abandon(Peer& peer) noexcept
{
    peer.in.early.clear();
    for (const EarlyZeroCopy& message : peer.in.early_zero_copy) {
        if (message.descriptor != nullptr) {
            worker_.release(message.descriptor);
        }
    }
    peer.in.early_zero_copy.clear();
}

} // namespace sidelight::fabric::ucx
