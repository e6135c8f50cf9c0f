// SPDX-License-Identifier: BSD-3-Clause
#include "rma/channel/order.hpp"

#include <utility>

#include "rma/channel/wire.hpp"
#include "rma/rules.hpp"

namespace sidelight::rma {

namespace {

/// A long put that would have to wait for another one goes in fragments behind it up to so many
/// bytes: they are copied twice, but the next one need not wait either.
constexpr std::size_t most_copied = 65536;

std::uint32_t& count(Channel& target, Road road) noexcept
{
    return target.under_way[static_cast<std::size_t>(road)];
}

/// Those of one block alone are long: a zero-copy message is one.
bool is_long(const Operation& operation) noexcept
{
    return moves_bytes(operation) && operation.layout->contiguous &&
           operation.origin.layout->contiguous && data_bytes(operation) >= zero_copy_bytes;
}

Road road_by_messages(const Operation& operation) noexcept
{
    if (operation.kind == OperationKind::active_message) {
        return Road::active;
    }
    if (!is_long(operation)) {
        return Road::messages;
    }
    return operation.kind == OperationKind::put ? Road::long_put : Road::long_get;
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
        const bool may = may_start(*op.ordered_on, road);
        if (!may && road == Road::long_put && data_bytes(op.operation) <= most_copied) {
            road = Road::messages;
        }
        if (!may && !may_start(*op.ordered_on, road)) {
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
