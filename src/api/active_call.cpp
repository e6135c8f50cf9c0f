// SPDX-License-Identifier: BSD-3-Clause
#include "api/active_call.hpp"

#include "datatype/mpi/cache.hpp"

namespace sidelight::api {

using namespace runtime;

namespace {

using datatype::Buffer;
using datatype::Layout;

/// A segment of one side, and how many elements of it are one at the target, which a handler can be
/// told up to `most`. No elements: nothing.
Status describe(const SideArguments& side, MPI_Count segments, std::uint64_t most, Buffer& here,
                rma::ActiveSide& there) noexcept
{
    if (side.count < 0) {
        return Status::count;
    }
    if (side.count == 0) {
        return Status::ok;
    }
    Status why = Status::ok;
    const Layout* layout = datatype::layout_of(side.type, why);
    const Layout* target = layout != nullptr ? datatype::layout_of(side.target_type, why) : nullptr;
    if (target == nullptr) {
        return why;
    }
    if (side.address == nullptr && segments > 0 && layout->predefined) {
        return Status::buffer;
    }
    std::uint64_t elements = 0;
    const auto count = static_cast<std::uint64_t>(side.count);
    if (!datatype::made_of(datatype::repeated(layout->signature, count), target->signature,
                           elements)) {
        return Status::type;
    }
    if (elements > most) {
        return Status::count;
    }
    if (elements != 0) {
        here = {const_cast<void*>(side.address), layout, static_cast<std::size_t>(count)};
        there = {.layout = target,
                 .count = static_cast<std::size_t>(elements),
                 .type = code_of_type(side.target_type)};
    }
    return Status::ok;
}

/// The number under which the operation that has this handle now was registered last: the host may
/// have given the handle of a freed one, whose registrations stay, again.
Status find_handler(const WindowObject& object, MPI_Op op, std::uint32_t& number,
                    std::uint64_t& most) noexcept
{
    const std::shared_ptr<const ActiveOperation> operation = active_operations::find(op);
    if (operation == nullptr) {
        return Status::op;
    }
    const auto& registered = object.body->registered;
    for (std::size_t index = registered.size(); index > 0; --index) {
        if (registered[index - 1] == operation) {
            number = static_cast<std::uint32_t>(index - 1);
            most = most_told(operation->form);
            return Status::ok;
        }
    }
    return Status::op;
}

} // namespace

Status translate(const WindowObject& object, const ActiveArguments& arguments,
                 rma::Operation& operation, rma::ActiveCall& call) noexcept
{
    Status status = Status::ok;
    operation.layout = datatype::layout_of(arguments.type, status);
    if (operation.layout == nullptr) {
        return status;
    }
    std::uint64_t most = 0;
    status = find_handler(object, arguments.op, call.handler, most);
    if (status == Status::ok &&
        (arguments.segments < 0 || static_cast<std::uint64_t>(arguments.segments) > most ||
         arguments.count < 0 || static_cast<std::uint64_t>(arguments.count) > most)) {
        return Status::count;
    }
    if (status == Status::ok) {
        status = describe(arguments.input, arguments.segments, most, operation.origin, call.input);
    }
    if (status == Status::ok) {
        status =
            describe(arguments.output, arguments.segments, most, operation.result, call.output);
    }
    if (status != Status::ok) {
        return status; // before the first registration types have no codes
    }
    operation.kind = rma::OperationKind::active_message;
    operation.target = arguments.target;
    operation.displacement = arguments.displacement;
    operation.count = static_cast<std::size_t>(arguments.count);
    operation.thread = flushing_thread(object);
    operation.ordered = object.ordered;
    operation.region = object.region;
    operation.notification = arguments.notification;
    call.segments = static_cast<std::uint64_t>(arguments.segments);
    call.persistent_type = code_of_type(arguments.type);
    call.order = object.active_order;
    return Status::ok;
}

} // namespace sidelight::api
