// SPDX-License-Identifier: BSD-3-Clause
#include "rma/operation/operations.hpp"

#include "base/cpu.hpp"
#include "rma/operation/handle_regions.hpp"
#include "rma/operation/ordered_access.hpp"
#include "rma/rules.hpp"

namespace sidelight::rma {

using datatype::Buffer;

namespace {

template <class Visit>
void for_each_layout(const Operation& operation, Visit visit) noexcept
{
    const bool active = operation.active != nullptr;
    for (const datatype::Layout* layout :
         {operation.origin.layout, operation.result.layout, operation.layout,
          active ? operation.active->input.layout : nullptr,
          active ? operation.active->output.layout : nullptr}) {
        if (layout != nullptr) {
            visit(*layout);
        }
    }
}

void hold_parts(const Operation& operation) noexcept
{
    for_each_layout(operation, datatype::acquire);
    if (operation.region != nullptr) {
        ++operation.region->users;
    }
}

void drop_parts(const Operation& operation) noexcept
{
    for_each_layout(operation, [](const datatype::Layout& layout) { datatype::release(&layout); });
    if (operation.region != nullptr) {
        HandleRegions::drop(*operation.region);
    }
}

ActiveRange range_of(const Operation& operation, std::size_t address) noexcept
{
    const datatype::Extent touched = datatype::touched(*operation.layout, operation.count);
    return {address + static_cast<std::size_t>(touched.first),
            address + static_cast<std::size_t>(touched.last)};
}

} // namespace

Status Operations::prepare(const Operation& operation, bool granted,
                           Destination& destination) const noexcept
{
    const Status status = locate(operation, with_.targets[operation.target], with_.memory,
                                 operation.target == with_.rank, granted, destination);
    return status == Status::ok ? check_operands(operation) : status;
}

/// Whether one before it travels whose order counts: then it takes the same way, behind it.
bool Operations::must_keep_order(const Operation& operation) const noexcept
{
    if (!operation.ordered && (!with_.memory.is_dynamic() || !is_accumulate(operation))) {
        return false; // else there is one route
    }
    const Channel* channel = with_.channels.find(operation.target);
    return channel != nullptr && !rules::may_combine_at_once(channel->in_order);
}

Status Operations::perform_at_once(const Operation& operation, Destination& destination,
                                   bool& done) noexcept
{
    if (operation.kind == OperationKind::active_message) {
        return Status::ok; // its handler runs without the engine
    }
    if (must_keep_order(operation)) {
        return Status::ok;
    }
    done = destination.mapped;
    if (done) {
        const Status status = perform_mapped(operation, destination.memory);
        with_.mapped.made_plain_access();
        return status;
    }
    if (with_.native.move_at_once(operation, with_.targets[operation.target], destination,
                                  rules::is_first_since_wait(ages_ + 1, waited_for_))) {
        done = true;
        ++ages_;
        with_.mapped.made_plain_access();
    }
    return Status::ok;
}

/// Complete at the target on return.
Status Operations::perform_mapped(const Operation& operation, std::byte* base) noexcept
{
    if (operation.ordered) {
        order_access(returned_to(operation) == nullptr);
    }
    const Buffer memory{base, operation.layout, operation.count};
    Target& target = with_.targets[operation.target];
    switch (operation.kind) {
    case OperationKind::marker:
    case OperationKind::active_message:
        return Status::ok;
    case OperationKind::put:
        return transfer(Direction::put, operation.origin, memory);
    case OperationKind::get:
        return transfer(Direction::get, operation.origin, memory);
    case OperationKind::accumulate:
    case OperationKind::compare_and_swap:
        break;
    }
    const AccumulateTarget member = accumulate_target(target, operation.target);
    return operation.kind == OperationKind::accumulate
               ? with_.accumulates.accumulate(operation.reduce, member, operation.origin,
                                              operation.result, memory)
               : with_.accumulates.compare_and_swap(member, operation.origin.address,
                                                    operation.compare, operation.result.address,
                                                    operation.layout, base);
}

/// What a flush or others have to be told of one of its own is recorded, and what may go by another
/// road.
bool Operations::join(const Operation& operation, const Destination& destination,
                      const Epoch& epoch, std::uint32_t peer) noexcept
{
    if (operation.ordered || notifies(operation) || operation.region != nullptr ||
        destination.mapped || with_.targets[operation.target].remote != nullptr ||
        with_.memory.is_dynamic()) {
        return false;
    }
    Channel* channel = with_.channels.find(operation.target);
    return channel != nullptr &&
           with_.origin.join(operation, epoch, peer, *channel, destination.address);
}

Op* Operations::record(const Operation& operation, const Destination& destination,
                       Request* request) noexcept
{
    Op* op = with_.pools.ops.take();
    if (op == nullptr) {
        return nullptr;
    }
    ActiveMessage* message = operation.active != nullptr ? with_.pools.messages.take() : nullptr;
    if (operation.active != nullptr && message == nullptr) {
        with_.pools.ops.give_back(op);
        return nullptr;
    }
    hold_parts(operation);
    ++ages_;
    *op = {.operation = operation,
           .request = request,
           .age = ages_,
           .address = destination.address,
           .alone = rules::is_first_since_wait(ages_, waited_for_),
           .message = message};
    if (message != nullptr) {
        message->begin(*operation.active, *op);
        message->range = range_of(operation, destination.address);
        op->operation.active = &message->call;
    }
    ++unfinished_;
    return op;
}

bool Operations::runs_here(const Operation& operation,
                           const Destination& destination) const noexcept
{
    return operation.kind == OperationKind::active_message &&
           (operation.target == with_.rank || (destination.mapped && !with_.active.at_target));
}

void Operations::execute(Op& op) noexcept
{
    Destination destination;
    const Status status =
        op.operation.kind == OperationKind::marker
            ? Status::ok
            : locate(op.operation, with_.targets[op.operation.target], with_.memory,
                     op.operation.target == with_.rank, true, destination);
    if (status != Status::ok) {
        conclude(op, status);
    } else {
        execute_at(op, destination);
    }
}

void Operations::execute_at(Op& op, const Destination& destination) noexcept
{
    const Operation& operation = op.operation;
    with_.life.begin(op);
    if (operation.kind == OperationKind::marker) {
        with_.life.end(op, Status::ok);
        return;
    }
    if (runs_here(operation, destination)) {
        with_.active.here.launch(op, destination.memory,
                                 with_.active.exclusion.largest_room(operation.target));
        return;
    }
    if (operation.kind != OperationKind::active_message && destination.mapped &&
        !must_keep_order(operation)) {
        const Status status = perform_mapped(operation, destination.memory);
        full_barrier();
        with_.life.end(op, status);
        return;
    }
    Target& target = with_.targets[operation.target];
    Channel& channel = with_.channels.open(operation.target, target.peer);
    if (op.message != nullptr || !with_.native.start(op, target, channel, destination, op.alone)) {
        with_.origin.launch(op, channel, destination.address);
    }
}

void Operations::conclude(Op& op, Status status) noexcept
{
    with_.life.begin(op);
    with_.life.end(op, status);
}

void Operations::retire(Op& op) noexcept
{
    --unfinished_;
    drop_parts(op.operation);
    if (op.message != nullptr) {
        op.message->begin({}, op);
        with_.pools.messages.give_back(op.message);
    }
    with_.pools.ops.give_back(&op);
}

} // namespace sidelight::rma
