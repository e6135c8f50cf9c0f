// SPDX-License-Identifier: BSD-3-Clause
#include "rma/epoch/barrier.hpp"

#include <algorithm>

#include "rma/interest_rules.hpp"
#include "rma/rules.hpp"

namespace sidelight::rma {

Barrier::Barrier(Contacts& contacts, Channels& channels, const BarrierShape& shape) noexcept
    : contacts_(contacts),
      channels_(channels),
      shape_(shape),
      leads_(!shape.one_node() && shape.leaders[shape.node] == contacts.rank())
{}

/// Those who wait for other things as well sleep at doorbells of their own; or they compute.
void Barrier::wake(bool all_arrived, std::uint64_t number) noexcept
{
    const rules::EventClass kind =
        all_arrived ? rules::EventClass::passage : rules::EventClass::arrival;
    channels_.carrier().fabric().wake_all(shape_.word->bell);
    contacts_.wake_neighbours(rules::event_of(kind, contacts_.window(), 0, number));
}

/// Never ahead of one that it has not passed, as after a loss: it would count for another member.
void Barrier::arrive(std::uint64_t number) noexcept
{
    if (arrived_ >= number || passed_ + 1 < number) {
        return;
    }
    arrived_ = number;
    arrive_for_another(number);
}

void Barrier::arrive_for_another(std::uint64_t number) noexcept
{
    // Release of everything before the barrier; pairs with the acquire in `node_arrived`.
    const std::uint64_t before = shape_.word->arrivals.fetch_add(1, std::memory_order_seq_cst);
    if (rules::barrier_passed(number, contacts_.neighbours().size(), before + 1)) {
        wake(shape_.one_node(), number);
    }
}

bool Barrier::passed(std::uint64_t number) noexcept
{
    if (passed_ >= number) {
        return true;
    }
    if (shape_.one_node()) {
        if (!node_arrived(number)) {
            return false;
        }
    } else if (leads_) {
        if (!node_arrived(number) || !disseminate(number)) {
            return false;
        }
        // Release of what other nodes have told; pairs with the acquire below.
        shape_.word->passed.store(number, std::memory_order_seq_cst);
        wake(true, number);
    } else if (shape_.word->passed.load(std::memory_order_acquire) < number) {
        return false;
    }
    passed_ = number;
    return true;
}

bool Barrier::node_arrived(std::uint64_t number) const noexcept
{
    return rules::barrier_passed(number, contacts_.neighbours().size(),
                                 shape_.word->arrivals.load(std::memory_order_acquire));
}

/// The leader's part, once its own node is there. Answers whether all nodes are.
bool Barrier::disseminate(std::uint64_t number) noexcept
{
    if (sent_ < number) {
        if (!send_round(number, 0)) {
            return false;
        }
        sent_ = number;
        round_ = 0;
    }
    while ((std::uint64_t{1} << round_) < shape_.leaders.size()) {
        if (heard_[round_] < number || !send_round(number, round_ + 1)) {
            return false;
        }
        ++round_;
    }
    return true;
}

/// Believed from the leader that tells this one in that round alone. It can be one barrier ahead of
/// this member, and no further.
void Barrier::receive(Channel& from, const BarrierBody& body) noexcept
{
    const std::uint64_t nodes = shape_.leaders.size();
    if (!leads_ || body.round >= max_rounds || std::uint64_t{1} << body.round >= nodes) {
        return;
    }
    const std::uint64_t before = (shape_.node + nodes - (std::uint64_t{1} << body.round)) % nodes;
    if (shape_.leaders[before] == from.rank && body.number <= arrived_ + 1) {
        heard_[body.round] = std::max(heard_[body.round], body.number);
    }
}

/// Answers whether the round needs nothing more of this member. Without memory to meet the other
/// leader it does: the next sweep tries again.
bool Barrier::send_round(std::uint64_t number, std::uint32_t round) noexcept
{
    const std::uint64_t distance = std::uint64_t{1} << round;
    const std::uint64_t nodes = shape_.leaders.size();
    if (distance >= nodes) {
        return true;
    }
    const std::int32_t leader = shape_.leaders[(shape_.node + distance) % nodes];
    if (contacts_.meet(leader) != Status::ok) {
        return false;
    }
    ++steps_;
    channels_.send(contacts_.channel(leader), MessageKind::barrier,
                   BarrierBody{.round = round, .number = number});
    return true;
}

} // namespace sidelight::rma
