// SPDX-License-Identifier: BSD-3-Clause
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

/// Answers whether the condition held in time.
template <typename Condition>
bool poll_until(Fabric& fabric, Receiver& receiver, std::chrono::steady_clock::time_point end,
                Condition condition) noexcept
{
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        fabric.poll(receiver);
    }
    return true;
}

} // namespace

/// Until everything is with the kernel or the network's hardware, of peers that are there.
bool UcxFabric::flush(Receiver& receiver, Clock::time_point end) noexcept
{
    const bool left = poll_until(*this, receiver, end, [this] {
        return connections_.has_left() && sending_.has_connected();
    });
    worker_.start_flush();
    return poll_until(*this, receiver, end,
                      [this] { return worker_.is_flushed() && connections_.has_closed(); }) &&
           left;
}

bool UcxFabric::close_connections(Receiver& receiver, Clock::time_point end) noexcept
{
    for (const std::unique_ptr<Peer>& peer : connections_.peers()) {
        if (peer) {
            part_from(*peer);
        }
    }
    const bool ended = poll_until(*this, receiver, end, [this] {
        return worker_.is_flushed() && connections_.has_closed() && connections_.is_idle();
    });
    for (const std::unique_ptr<Peer>& peer : connections_.peers()) {
        if (peer) {
            tell_forgotten(*peer);
        }
    }
    return ended;
}

bool UcxFabric::close(Receiver& receiver, std::chrono::nanoseconds limit) noexcept
{
    const Clock::time_point end = Clock::now() + limit;
    push();
    const bool left = flush(receiver, end);
    const bool closed = close_connections(receiver, Clock::now() + closing_limit);
    sending_.tell_finished(); // that of peers that have never been connected
    transfers_.tell_over();
    open_memories_.close(closed);
    registrations_.close(closed);
    if (closed) {
        worker_.destroy();
    } else {
        log(LogLevel::info, "UCX is left as it is: connections did not end in time");
        worker_.leave();
    }
    return left;
}

UcxFabric::~UcxFabric()
{
    if (!worker_.is_gone()) {
        Nobody nobody;
        close(nobody, std::chrono::nanoseconds(0));
    }
}

} // namespace sidelight::fabric::ucx
