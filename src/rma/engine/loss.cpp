// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/loss.hpp"

#include "base/log.hpp"
#include "rma/rules.hpp"

namespace sidelight::rma {

void Losses::lose_peer(int peer) noexcept
{
    for (const std::int32_t rank : with_.contacts.met()) {
        if (with_.contacts.target(rank).peer == peer) {
            with_.contacts.lose(rank);
            Channel& channel = with_.contacts.channel(rank);
            acknowledgements_.end_placing(channel);
            target_side_.end_uses(channel);
        }
    }
}

bool Losses::give_up_lost() noexcept
{
    bool any = false;
    for (int rank = with_.contacts.take_lost(); rank >= 0; rank = with_.contacts.take_lost()) {
        any = true;
        log(LogLevel::warn, "window %llx: rank %d is lost",
            static_cast<unsigned long long>(window_), rank);
        pass_on(rank);
        if (with_.contacts.is_met(rank)) {
            Channel& channel = with_.contacts.channel(rank);
            active_.abandon(channel);
            acknowledgements_.abandon(channel);
            with_.locks.leave_all(rank);
        }
    }
    if (any) {
        with_.mapped.open_all(false, false); // an open fence epoch had let them be reached
    }
    return any;
}

/// Members that never talk to the lost one wait for it, too: in barriers, and behind others that
/// do. The leader of each node tells its own node, and other leaders along the barrier's pattern,
/// in both directions; everybody else tells the leader.
void Losses::pass_on(int rank) noexcept
{
    if (!rules::passes_loss_on()) {
        return;
    }
    const BarrierShape& shape = with_.barrier.shape();
    const auto nodes = shape.leaders.size();
    const int leader = shape.leaders.empty() ? with_.contacts.rank() : shape.leaders[shape.node];
    if (leader != with_.contacts.rank() && !with_.contacts.target(leader).lost) {
        tell(leader, rank);
        return;
    }
    for (const std::int32_t neighbour : with_.contacts.neighbours()) {
        tell(neighbour, rank);
    }
    for (std::size_t distance = 1; distance < nodes; distance *= 2) {
        tell(shape.leaders[(shape.node + distance) % nodes], rank);
        tell(shape.leaders[(shape.node + nodes - distance) % nodes], rank);
    }
}

void Losses::tell(int to, int rank) noexcept
{
    if (to != with_.contacts.rank() && to != rank && with_.contacts.meet(to) == Status::ok) {
        with_.channels.send(with_.contacts.channel(to), MessageKind::lost, LostBody{.rank = rank});
    }
}

void Losses::leave_broken() noexcept
{
    give_up_lost();
    for (std::size_t next = 0; next < with_.contacts.met().size(); ++next) {
        const int rank = with_.contacts.met()[next];
        if (!with_.contacts.target(rank).lost) {
            tell(rank, with_.contacts.rank());
        }
    }
}

} // namespace sidelight::rma
