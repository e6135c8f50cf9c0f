// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>

#include "base/log.hpp"
#include "fabric/ucx/ucx_fabric.hpp"

/// The way in. UCX promises no order between active messages, so batches are counted and those that
/// come too early are kept; so is what comes while the receiver is busy with another.
namespace sidelight::fabric::ucx {
namespace {

std::span<const std::byte> bytes_at(const void* data, std::size_t bytes) noexcept
{
    return {static_cast<const std::byte*>(data), bytes};
}

} // namespace

ucs_status_t UcxFabric::on_batch(void* fabric, const void* /*header*/, size_t /*header_bytes*/,
                                 void* data, size_t bytes,
                                 const ucp_am_recv_param_t* /*param*/) noexcept
{
    const auto message = bytes_at(data, bytes);
    const auto header = read_plain<BatchHeader>(message);
    if (!header) {
        log(LogLevel::error, "a batch of %zu bytes is dropped: too short", bytes);
        return UCS_OK;
    }
    auto& self = *static_cast<UcxFabric*>(fabric);
    self.take_batch_of(self.sender_of(header->sender), header->sequence,
                       message.subspan(sizeof(BatchHeader)));
    return UCS_OK;
}

void UcxFabric::take_batch_of(Peer& peer, std::uint64_t sequence, std::span<const std::byte> frames)
{
    if (peer.lost) {
        return;
    }
    if (sequence == peer.received && may_hand_over()) {
        hand_over(peer, frames);
        if (!peer.early.empty() || !peer.early_zero_copy.empty()) {
            hand_over_early(peer);
        }
    } else if (sequence >= peer.received) {
        peer.early.try_emplace(sequence, frames.begin(), frames.end());
        note_ready(peer);
    } else {
        log(LogLevel::error, "batch %llu of peer %d is dropped",
            static_cast<unsigned long long>(sequence), peer.number);
    }
}

void UcxFabric::hand_over(Peer& peer, std::span<const std::byte> frames) noexcept
{
    const bool aligned = reinterpret_cast<std::uintptr_t>(frames.data()) % frame_alignment == 0;
    if (!aligned && frames.size() <= aligned_.size()) {
        std::memcpy(aligned_.data(), frames.data(), frames.size());
        frames = {aligned_.data(), frames.size()};
    }
    handing_over_ = true;
    FrameReader reader(frames);
    while (const auto message = reader.next()) {
        receiver_->receive(peer.number, *message);
    }
    handing_over_ = false;
    ++peer.received;
    if (reader.malformed()) {
        log(LogLevel::error, "a batch of peer %d is malformed", peer.number);
    }
}

void UcxFabric::note_ready(Peer& peer)
{
    if (!peer.ready) {
        peer.ready = true;
        ready_.push_back(&peer);
    }
}

void UcxFabric::hand_over_early(Peer& peer)
{
    for (;;) {
        const auto message =
            std::find_if(peer.early_zero_copy.begin(), peer.early_zero_copy.end(),
                         [&](const EarlyZeroCopy& early) { return early.after <= peer.received; });
        if (message != peer.early_zero_copy.end()) {
            const EarlyZeroCopy taken = std::move(*message);
            peer.early_zero_copy.erase(message);
            if (taken.descriptor == nullptr) {
                place_copy(peer, taken.header, taken.payload);
            } else if (!place_descriptor(peer, taken.header, taken.descriptor, taken.bytes)) {
                ucx_.am_data_release(worker_, taken.descriptor);
            }
            continue;
        }
        const auto batch = peer.early.find(peer.received);
        if (batch == peer.early.end()) {
            return;
        }
        const std::vector<std::byte> frames = std::move(batch->second);
        peer.early.erase(batch);
        hand_over(peer, frames);
    }
}

bool UcxFabric::hand_over_ready()
{
    const bool any = !ready_.empty();
    for (std::size_t next = 0; next < ready_.size(); ++next) { // more may be ready meanwhile
        Peer& peer = *ready_[next];
        peer.ready = false;
        hand_over_early(peer);
    }
    ready_.clear();
    return any;
}

} // namespace sidelight::fabric::ucx
