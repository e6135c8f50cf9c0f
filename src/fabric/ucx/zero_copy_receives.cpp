// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/ucx/zero_copy_receives.hpp"

#include <algorithm>
#include <memory>
#include <new>

namespace sidelight::fabric::ucx {

ZeroCopyReceives::ZeroCopyReceives(const Worker& worker, Connections& connections,
                                   Delivery& delivery) noexcept
    : ucx_(worker.ucx()), worker_(worker.handle()), connections_(connections), delivery_(delivery)
{}

ZeroCopyReceives::~ZeroCopyReceives()
{
    while (!placed_.empty()) {
        delete placed_.pop();
    }
}

void ZeroCopyReceives::copy(const Peer& peer, std::span<const std::byte> header,
                            std::span<const std::byte> payload) noexcept
{
    const Delivery::Call receiver(delivery_);
    std::byte* place = receiver->place(peer.number, header, payload.size());
    if (place != nullptr) {
        std::copy(payload.begin(), payload.end(), place);
        receiver->placed(peer.number, header, payload.size());
    }
}

bool ZeroCopyReceives::fetch(Peer& peer, std::span<const std::byte> header, void* descriptor,
                             std::size_t bytes) noexcept
try {
    std::unique_ptr<Receive> made(
        new Receive{*this, peer, {header.begin(), header.end()}, bytes}); // before it is expected
    std::byte* place = Delivery::Call(delivery_)->place(peer.number, header, bytes);
    if (place == nullptr) {
        return false;
    }
    Receive* receive = made.release();
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
} catch (const std::bad_alloc&) {
    connections_.fail(peer, UCS_ERR_NO_MEMORY);
    return false;
}

/// The receiver is told later: UCX may come here from within a call of the receiver's.
void ZeroCopyReceives::conclude(Receive& receive, ucs_status_t status) noexcept
{
    if (status == UCS_OK) {
        placed_.push(&receive);
        return;
    }
    connections_.fail(receive.peer, status);
    delete &receive;
}

bool ZeroCopyReceives::tell_placed() noexcept
{
    const bool any = !placed_.empty();
    while (!placed_.empty()) { // more may be placed meanwhile
        const std::unique_ptr<Receive> receive(placed_.pop());
        delivery_.receiver().placed(receive->peer.number, receive->header, receive->bytes);
    }
    return any;
}

void ZeroCopyReceives::on_placed(void* request, ucs_status_t status, size_t /*bytes*/,
                                 void* data) noexcept
{
    auto& receive = *static_cast<Receive*>(data);
    ZeroCopyReceives& owner = receive.owner;
    owner.ucx_.request_free(request);
    --receive.peer.outstanding;
    owner.conclude(receive, status);
}

} // namespace sidelight::fabric::ucx
