// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "base/log.hpp"
#include "rma/process.hpp"
#include "rma/window.hpp"

/// What becomes of a window when a member of it cannot be reached any more. See
/// docs/design/lost-peers.md.
namespace sidelight::rma {

/// Notes that it is lost; the next sweep gives up what waits for it. Nothing waits for it anew.
void Window::lose(int rank) noexcept
{
    Target& target = targets_[rank];
    if (rank == rank_ || std::exchange(target.lost, true)) {
        return;
    }
    broken_ = true;
    ++lost_;
    target.reach.store(0, std::memory_order_release);
    if (target.regions != nullptr) {
        target.regions->open(false);
    }
    target.flushable.store(false, std::memory_order_release);
    target.next_lost = first_lost_;
    first_lost_ = rank + 1;
    update_busy();
}

/// The fabric has lost a process. Members that have not been met are looked at when they are.
void Window::lose_peer(int peer) noexcept
{
    for (const std::int32_t rank : met_) {
        if (targets_[rank].peer == peer) {
            lose(rank);
        }
    }
}

/// Gives up all that waits for those lost since the last sweep.
bool Window::give_up_lost() noexcept
{
    const bool any = first_lost_ != 0;
    while (first_lost_ != 0) {
        const int rank = first_lost_ - 1;
        first_lost_ = targets_[rank].next_lost;
        log(LogLevel::warn, "window %llx: rank %d is lost", static_cast<unsigned long long>(id_),
            rank);
        pass_loss_on(rank);
        abandon_flights(rank);
        leave_places(rank);
    }
    return any;
}

/// Members that never talk to the lost one wait for it, too: in barriers, and behind others that
/// do. The leader of each node tells its own node, and other leaders along the barrier's pattern,
/// in both directions; everybody else tells the leader.
void Window::pass_loss_on(int rank) noexcept
{
    if (!rules::passes_loss_on()) {
        return;
    }
    const BarrierShape& shape = barrier_.shape();
    const auto nodes = shape.leaders.size();
    const int leader = shape.leaders.empty() ? rank_ : shape.leaders[shape.node];
    if (leader != rank_ && !targets_[leader].lost) {
        tell_lost(leader, rank);
        return;
    }
    for (const std::int32_t neighbour : neighbours_) {
        tell_lost(neighbour, rank);
    }
    for (std::size_t distance = 1; distance < nodes; distance *= 2) {
        tell_lost(shape.leaders[(shape.node + distance) % nodes], rank);
        tell_lost(shape.leaders[(shape.node + nodes - distance) % nodes], rank);
    }
}

void Window::tell_lost(int to, int rank) noexcept
{
    if (to == rank_ || to == rank || meet(to) != Status::ok) {
        return;
    }
    MessageHeader header;
    header.kind = MessageKind::lost;
    header.number = static_cast<std::uint64_t>(rank);
    send(to, header);
}

/// Something that it has asked for cannot be done or refused: each is lost to the other, so that
/// neither waits.
void Window::part_from(int rank) noexcept
{
    tell_lost(rank, rank_);
    lose(rank);
}

/// The same for one that could not even be met: this member is lost to it.
void Window::tell_unmet(int peer) noexcept
{
    MessageHeader header;
    header.kind = MessageKind::lost;
    header.window = id_;
    header.origin = static_cast<std::uint32_t>(rank_);
    header.number = header.origin;
    static_cast<void>(process_.send(peer, header));
}

/// The operations towards it that have been sent, wholly or in part, end with the error. What the
/// fabric still reads ends when it has finished.
void Window::abandon_flights(int rank) noexcept
{
    Target& target = targets_[rank];
    placing_ -= std::exchange(target.placing, 0);
    target.launching = {};
    target.counted = {};
    target.in_flight = 0;
    target.pieces_performed = target.pieces_sent;
    process_.flights_.for_each([&](Flight& flight) {
        if (flight.op->window == this && flight.op->operation.target == rank) {
            flight.status = Status::lost;
            flight.replies = 0;
            flight.placing = 0;
            flight.counted = false;
            flight.launched = true;
            answer_complete(flight);
        }
    });
}

/// Its places in the queue here are left, so that others get in; those that are not admitted yet
/// are left when they are.
void Window::leave_places(int rank) noexcept
{
    Target& target = targets_[rank];
    for (const LockType type : {LockType::shared, LockType::exclusive}) {
        target.places_of(type) += std::exchange(target.leaving[static_cast<int>(type)], 0);
        while (target.places_of(type) != 0) {
            --target.places_of(type);
            own().lock.depart(type);
        }
    }
    wake_members();
    grant_waiting();
}

/// The last act in a window that has lost a member: nobody waits for all to leave it, so who still
/// works in there is told, as if this member were lost.
void Window::leave_broken() noexcept
{
    give_up_lost();
    for (std::size_t next = 0; next < met_.size(); ++next) {
        const int rank = met_[next];
        if (rank != rank_ && !targets_[rank].lost) {
            MessageHeader header;
            header.kind = MessageKind::lost;
            header.number = static_cast<std::uint64_t>(rank_);
            send(rank, header);
        }
    }
}

} // namespace sidelight::rma
