// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "base/log.hpp"
#include "fabric/ucx/ucx_fabric.hpp"

/// The end. UCX faults where a worker is destroyed under endpoints that are busy, so one whose
/// endpoints cannot be closed in time is left as it is.
namespace sidelight::fabric::ucx {
namespace {

/// How long the destructor waits for connections to end. What has not left by then is lost.
constexpr std::chrono::milliseconds closing_limit{500};

/// What comes when nobody listens any more.
class Nobody final : public Receiver {
public:
    void receive(int, std::span<const std::byte>) noexcept override {}
    std::byte* place(int, std::span<const std::byte>, std::size_t) noexcept override
    {
        return nullptr;
    }
    void placed(int, std::span<const std::byte>, std::size_t) noexcept override {}
    void lost(int) noexcept override {}
};

void free_batches(OutgoingList& batches) noexcept
{
    while (Outgoing* item = batches.take()) {
        delete static_cast<Batch*>(item);
    }
}

} // namespace

template <typename Condition>
bool UcxFabric::poll_until(Receiver& receiver, Clock::time_point end, Condition condition) noexcept
{
    while (!condition()) {
        if (Clock::now() > end) {
            return false;
        }
        poll(receiver);
    }
    return true;
}

/// Whether UCX has finished what it was asked to do.
bool UcxFabric::is_idle() const noexcept
{
    return std::all_of(peers_.begin(), peers_.end(),
                       [](const auto& peer) { return !peer || peer->outstanding == 0; });
}

void UcxFabric::on_flushed(void* request, ucs_status_t /*status*/, void* data) noexcept
{
    auto& fabric = *static_cast<UcxFabric*>(data);
    fabric.ucx_.request_free(request);
    --fabric.ending_;
}

/// Until everything is with the kernel or the network's hardware.
bool UcxFabric::flush(Receiver& receiver, Clock::time_point end) noexcept
{
    const bool left =
        poll_until(receiver, end, [this] { return is_idle() && to_connect_.empty(); });
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    param.cb.send = on_flushed;
    param.user_data = this;
    ending_ += UCS_PTR_IS_PTR(ucx_.worker_flush(worker_, &param)) ? 1 : 0;
    return poll_until(receiver, end, [this] { return ending_ == 0; }) && left;
}

bool UcxFabric::close_endpoints(Receiver& receiver, Clock::time_point end) noexcept
{
    for (const std::unique_ptr<Peer>& peer : peers_) {
        if (peer) {
            peer->failed = true; // what its requests say from now on is no news
            peer->lost = true;
            abandon(*peer);
            close_endpoint(*peer);
        }
    }
    return poll_until(receiver, end, [this] { return ending_ == 0 && is_idle(); });
}

bool UcxFabric::close(Receiver& receiver, std::chrono::nanoseconds limit) noexcept
{
    const Clock::time_point end = Clock::now() + limit;
    push();
    const bool left = flush(receiver, end);
    const bool closed = close_endpoints(receiver, Clock::now() + closing_limit);
    tell_finished(); // that of peers that have never been connected
    tell_accessed();
    close_memory(closed);
    if (closed) {
        ucx_.worker_destroy(worker_);
        ucx_.cleanup(context_);
    } else {
        log(LogLevel::info, "UCX is left as it is: connections did not end in time");
    }
    worker_ = nullptr;
    return left;
}

UcxFabric::~UcxFabric()
{
    if (worker_ != nullptr) {
        Nobody nobody;
        close(nobody, std::chrono::nanoseconds(0));
    }
    free_batches(spare_batches_);
    free_transfers();
}

} // namespace sidelight::fabric::ucx
