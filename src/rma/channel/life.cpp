// SPDX-License-Identifier: BSD-3-Clause
#include "rma/channel/life.hpp"

#include "rma/channel/order.hpp"
#include "rma/rules.hpp"

namespace sidelight::rma {

/// Its own request, if it has one, tells a failure that is known when it completes.
void OperationLife::step(Op& op, OperationEvent event) noexcept
{
    const OperationState from = op.state;
    const OperationState to = next_state(from, event);
    if (to == OperationState::illegal) {
        return; // whatever a peer has sent
    }
    op.state = to;
    const bool due =
        rules::request_completes(op.operation.request_scope, op.state >= OperationState::local,
                                 op.state == OperationState::complete);
    Request* request = due ? op.request : nullptr;
    if (request != nullptr) {
        request->status = op.failure;
    }
    if (due && op.state == OperationState::local) {
        op.request = nullptr; // who completes it later looks for whom it tells of a failure
    }
    observer_->moved(op, from);
    finish(request);
}

void OperationLife::end(Op& op, Status status) noexcept
{
    op.failure = status;
    leave_order(op);
    step(op, OperationEvent::all_answered);
}

void OperationLife::all_sent(Flight& flight) noexcept
{
    step(*flight.op, OperationEvent::all_sent);
    settle(flight);
}

void OperationLife::fragment_answered(Flight& flight, Status status) noexcept
{
    flight.status = flight.status == Status::ok ? status : flight.status;
    --flight.replies;
    --flight.channel->in_flight;
    settle(flight);
}

/// What fetches is free of its buffers when all has come back; what does not, when all has been
/// read. The target is notified of nothing that was not performed.
void OperationLife::settle(Flight& flight) noexcept
{
    Op& op = *flight.op;
    if (op.state < OperationState::sent || flight.buffers_in_use()) {
        return;
    }
    const bool fetches = returned_to(op.operation) != nullptr;
    const bool all_back = flight.replies == 0;
    if (fetches && all_back && flight.status == Status::ok && flight.received != flight.position) {
        flight.status = Status::other;
    }
    flight.owes_notification = flight.owes_notification && flight.status == Status::ok;
    if (flight.all_answered()) {
        const Status status = flight.status;
        flights_.give_back(flight);
        end(op, status);
    } else if (op.state == OperationState::sent && (!fetches || all_back)) {
        step(op, OperationEvent::buffers_free);
    }
}

} // namespace sidelight::rma
