// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "base/log.hpp"
#include "fabric/ucx/ucx_fabric.hpp"

/// Zero-copy messages on their way in: where UCX fetches the payload, it does so straight into the
/// receiver's place.
namespace sidelight::fabric::ucx {

/// A payload that UCX is fetching.
struct UcxFabric::ZeroCopyReceive {
    UcxFabric& fabric;
    Peer& peer;
    std::vector<std::byte> header;
    std::size_t bytes;
};

ucs_status_t UcxFabric::on_zero_copy(void* fabric, const void* header, size_t header_bytes,
                                     void* data, size_t bytes,
                                     const ucp_am_recv_param_t* param) noexcept
{
    auto& self = *static_cast<UcxFabric*>(fabric);
    return self.take_zero_copy({static_cast<const std::byte*>(header), header_bytes}, data, bytes,
                               (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0);
}

ucs_status_t UcxFabric::take_zero_copy(std::span<const std::byte> message, void* data,
                                       std::size_t bytes, bool is_descriptor)
{
    const auto first = read_plain<ZeroCopyHeader>(message);
    if (!first) {
        log(LogLevel::error, "a zero-copy message is dropped: its header is too short");
        return UCS_OK;
    }
    Peer& peer = sender_of(first->sender);
    if (peer.lost) {
        return UCS_OK;
    }
    const auto header = message.subspan(sizeof(ZeroCopyHeader));
    const std::span<const std::byte> payload{static_cast<const std::byte*>(data),
                                             is_descriptor ? 0 : bytes};
    if (first->after > peer.received || !may_hand_over()) {
        peer.early_zero_copy.push_back({.after = first->after,
                                        .header = {header.begin(), header.end()},
                                        .bytes = bytes,
                                        .payload = {payload.begin(), payload.end()},
                                        .descriptor = is_descriptor ? data : nullptr});
        note_ready(peer);
    } else if (is_descriptor) {
        return place_descriptor(peer, header, data, bytes) ? UCS_INPROGRESS : UCS_OK;
    } else {
        place_copy(peer, header, payload);
    }
    return is_descriptor ? UCS_INPROGRESS : UCS_OK;
}

void UcxFabric::place_copy(Peer& peer, std::span<const std::byte> header,
                           std::span<const std::byte> payload) noexcept
{
    handing_over_ = true;
    std::byte* place = receiver_->place(peer.number, header, payload.size());
    if (place != nullptr) {
        std::copy(payload.begin(), payload.end(), place);
        receiver_->placed(peer.number, header, payload.size());
    }
    handing_over_ = false;
}

/// False: the receiver does not want it, and the descriptor is still the caller's.
bool UcxFabric::place_descriptor(Peer& peer, std::span<const std::byte> header, void* descriptor,
                                 std::size_t bytes)
{
    handing_over_ = true;
    std::byte* place = receiver_->place(peer.number, header, bytes);
    handing_over_ = false;
    if (place == nullptr) {
        return false;
    }
    auto* receive = new ZeroCopyReceive{*this, peer, {header.begin(), header.end()}, bytes};
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.cb.recv_am = on_placed;
    param.user_data = receive;
    ucs_status_ptr_t request = ucx_.am_recv_data(worker_, descriptor, place, bytes, &param);
    if (UCS_PTR_IS_PTR(request)) {
        ++peer.outstanding;
    } else {
        conclude(*receive, UCS_PTR_RAW_STATUS(request));
    }
    return true;
}

/// The receiver is told later: UCX may come here from within a call of the receiver's.
void UcxFabric::conclude(ZeroCopyReceive& receive, ucs_status_t status) noexcept
{
    if (status == UCS_OK) {
        placed_.push_back(&receive);
        return;
    }
    fail(receive.peer, status);
    delete &receive;
}

bool UcxFabric::tell_placed() noexcept
{
    const bool any = !placed_.empty();
    for (std::size_t next = 0; next < placed_.size(); ++next) { // more may be placed meanwhile
        const std::unique_ptr<ZeroCopyReceive> receive(placed_[next]);
        receiver_->placed(receive->peer.number, receive->header, receive->bytes);
    }
    placed_.clear();
    return any;
}

void UcxFabric::on_placed(void* request, ucs_status_t status, size_t /*bytes*/, void* data) noexcept
{
    auto& receive = *static_cast<ZeroCopyReceive*>(data);
    UcxFabric& fabric = receive.fabric;
    fabric.ucx_.request_free(request);
    --receive.peer.outstanding;
    fabric.conclude(receive, status);
}

} // namespace sidelight::fabric::ucx
