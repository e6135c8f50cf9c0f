// SPDX-License-Identifier: BSD-3-Clause
#include "rma/engine/loss.hpp"

#include "base/log.hpp"
#include "rma/rules.hpp"

namespace sidelight::rma {

void Losses::lose_peer(int peer) noexcept
{
    for (const std::int32_t rank : contacts_.met()) {
        if (contacts_.target(rank).peer == peer) {
            contacts_.lose(rank);
            acknowledgements_.end_placing(contacts_.channel(rank));
        }
    }
}

bool Losses::give_up_lost() noexcept
{
    bool any = false;
    for (int rank = contacts_.take_lost(); rank >= 0; rank = contacts_.take_lost()) {
        any = true;
        log(LogLevel::warn, "window %llx: rank %d is lost",
            static_cast<unsigned long long>(window_), rank);
        pass_on(rank);
        Channel& channel = contacts_.channel(rank);
        active_.abandon(channel);
        acknowledgements_.abandon(channel);
        locks_.leave_all(rank);
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
    const BarrierShape& shape = barrier_.shape();
    const auto nodes = shape.leaders.size();
    const int leader = shape.leaders.empty() ? contacts_.rank() : shape.leaders[shape.node];
    if (leader != contacts_.rank() && !contacts_.target(leader).lost) {
        tell(leader, rank);
        return;
    }
    for (const std::int32_t neighbour : contacts_.neighbours()) {
        tell(neighbour, rank);
    }
    for (std::size_t distance = 1; distance < nodes; distance *= 2) {
        tell(shape.leaders[(shape.node + distance) % nodes], rank);
        tell(shape.leaders[(shape.node + nodes - distance) % nodes], rank);
    }
}

void Losses::tell(int to, int rank) noexcept
{
    if (to != contacts_.rank() && to != rank && contacts_.meet(to) == Status::ok) {
        channels_.send(contacts_.channel(to), MessageKind::lost, LostBody{.rank = rank});
    }
}

void Losses::leave_broken() noexcept
{
    give_up_lost();
    for (std::size_t next = 0; next < contacts_.met().size(); ++next) {
        const int rank = contacts_.met()[next];
        if (rank != contacts_.rank() && !contacts_.target(rank).lost) {
            channels_.send(contacts_.channel(rank), MessageKind::lost,
                           LostBody{.rank = contacts_.rank()});
        }
    }
}

} // namespace sidelight::rma
