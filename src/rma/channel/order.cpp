// SPDX-License-Identifier: BSD-3-Clause
#include "rma/channel/order.hpp"

#include <utility>

#include "rma/channel/wire.hpp"
#include "rma/notice_rules.hpp"
#include "rma/rules.hpp"

namespace sidelight::rma {

namespace {

/// Puts of so many bytes go in fragments, though others of that length are zero-copy messages: they
/// are copied twice, but neither need the next long one wait for it, nor what follows be held.
constexpr std::size_t most_copied = 65536;

std::uint32_t& count(Channel& target, Road road) noexcept
{
    return target.under_way[static_cast<std::size_t>(road)];
}

/// Those of one block alone are long: a zero-copy message is one.
Road road_by_messages(const Operation& operation) noexcept
{
    if (operation.kind == OperationKind::active_message) {
        return Road::active;
    }
    const bool one_block = moves_bytes(operation) && operation.layout->contiguous &&
                           operation.origin.layout->contiguous;
    const std::size_t bytes = data_bytes(operation);
    if (operation.kind == OperationKind::put) {
        return one_block && bytes > most_copied ? Road::long_put : Road::messages;
    }
    return one_block && bytes >= zero_copy_bytes ? Road::long_get : Road::messages;
}

void take_road(Op& op, Road road) noexcept
{
    --count(*op.ordered_on, op.road);
    op.road = road;
    ++count(*op.ordered_on, road);
}

} // namespace

/// A long put is written where it goes as soon as it comes, so it must not come to a target where
/// messages before it are held.
bool may_start(const Channel& target, Road road) noexcept
{
    for (int earlier = 0; earlier < roads_under_way; ++earlier) {
        if (target.under_way[static_cast<std::size_t>(earlier)] != 0 &&
            !rules::may_follow(road, static_cast<Road>(earlier))) {
            return false;
        }
    }
    return road != Road::long_put ||
           rules::notice_counts(target.order_sent, target.zero_copies_placed);
}

/// The number that others were sent behind stays close to it, so that it can be told from a later
/// one.
void note_placed(Channel& target, std::uint32_t placed) noexcept
{
    const std::uint32_t more = placed - target.zero_copies_placed;
    if (more <= target.zero_copies_sent - target.zero_copies_placed) {
        const bool passed = rules::notice_counts(target.order_sent, placed);
        target.zero_copies_placed = placed;
        target.order_sent = passed ? placed : target.order_sent;
    }
}

void join_order(Op& op, Channel& target, Road road) noexcept
{
    if (op.ordered_on == nullptr) {
        op.ordered_on = &target;
        op.road = road;
        ++target.in_order;
        ++count(target, road);
    } else {
        take_road(op, road); // it takes another one
    }
}

void leave_order(Op& op) noexcept
{
    if (op.ordered_on != nullptr) {
        --op.ordered_on->in_order;
        --count(*op.ordered_on, op.road);
    }
}

bool may_leave(Flight& flight) noexcept
{
    Op& op = *flight.op;
    if (op.ordered_on == nullptr || op.road != Road::waiting) {
        return true;
    }
    Road road = Road::messages;
    if (op.operation.ordered) {
        road = road_by_messages(op.operation);
        if (!may_start(*op.ordered_on, road)) {
            return false;
        }
        flight.copied = road == Road::messages;
    }
    take_road(op, road);
    return true;
}

bool needs_order(const Channel& target, Road road) noexcept
{
    return road != Road::long_put &&
           rules::is_behind_long_puts(target.under_way[static_cast<std::size_t>(Road::long_put)]) &&
           target.order_sent != target.zero_copies_sent;
}

} // namespace sidelight::rma
