// SPDX-License-Identifier: BSD-3-Clause
#include "api/operation_call.hpp"

#include <new>
#include <stdexcept>

#include "api/intrinsic_check.hpp"
#include "base/last_access.hpp"
#include "base/settings.hpp"
#include "datatype/beginning.hpp"
#include "datatype/mpi/cache.hpp"
#include "runtime/attendance.hpp"
#include "runtime/runtime.hpp"

namespace sidelight::api {

using namespace runtime;

namespace {

using datatype::Buffer;
using datatype::Layout;
using rma::Operation;
using rma::OperationKind;
using rma::ReduceOp;

struct KnownOp {
    MPI_Op handle;
    ReduceOp op;
};

/// One side of an operation; `why`: it has no layout. What it points at is only read where the
/// operation says so.
Status describe_count(MPI_Count count, const Layout* layout, const Status& why,
                      Buffer& buffer) noexcept
{
    if (count < 0) {
        return Status::count;
    }
    if (layout == nullptr) {
        return why;
    }
    buffer = {nullptr, layout, static_cast<std::size_t>(count)};
    return Status::ok;
}

/// The same for memory of this process; what has more bytes than can be counted fits nothing. A
/// type that the program has made may hold addresses, and belongs to MPI_BOTTOM then.
Status describe(const void* address, MPI_Count count, const Layout* layout, const Status& why,
                Buffer& buffer) noexcept
{
    const Status status = describe_count(count, layout, why, buffer);
    std::ptrdiff_t bytes = 0;
    if (status == Status::ok && __builtin_mul_overflow(layout->size, count, &bytes)) {
        return Status::rma_range;
    }
    if (status == Status::ok && address == nullptr && count > 0 && layout->predefined) {
        return Status::buffer;
    }
    buffer.address = const_cast<void*>(address);
    return status;
}

/// The MPI handles resolved; ranks, ranges and epochs are the engine's to check.
Status translate(const OperationCall& call, Operation& operation) noexcept
{
    operation.kind = call.kind;
    operation.target = call.target;
    operation.displacement = call.displacement;
    operation.compare = call.compare;
    operation.request_scope = call.request_scope;
    operation.notification = call.notification;
    if (call.kind == OperationKind::accumulate &&
        (!find_reduce_op(call.op, operation.reduce) ||
         (operation.reduce == ReduceOp::no_op && !call.fetches))) {
        return Status::op;
    }
    Buffer target{};
    Status why = Status::ok;
    Status status = describe_count(call.count, datatype::layout_of(call.type, why), why, target);
    if (status == Status::ok && call.one_element && !target.layout->predefined) {
        status = Status::type;
    }
    const auto layout_of = [&](MPI_Datatype type) {
        return type == call.type ? target.layout
                                 : datatype::layout_of(type, why); // mostly the same
    };
    const bool reads_origin =
        call.kind != OperationKind::accumulate || operation.reduce != ReduceOp::no_op;
    if (status == Status::ok && reads_origin) {
        status = describe(call.origin, call.origin_count, layout_of(call.origin_type), why,
                          operation.origin);
    }
    if (status == Status::ok && call.fetches) {
        status = describe(call.result, call.result_count, layout_of(call.result_type), why,
                          operation.result);
    }
    if (status == Status::ok && call.kind == OperationKind::compare_and_swap &&
        call.compare == nullptr) {
        status = Status::buffer;
    }
    operation.layout = target.layout;
    operation.count = target.count;
    return status;
}

/// Both sides of it are so many of the same type, as mostly.
bool has_equal_sides(const OperationCall& call) noexcept
{
    return call.type == call.origin_type && call.count == call.origin_count &&
           (!call.fetches || (call.type == call.result_type && call.count == call.result_count));
}

/// Cuts what receives to what is sent, if that is less.
void fit(Buffer& to, const Buffer& from, datatype::LayoutPointer& made)
{
    std::size_t room = 0;
    std::size_t sent = 0;
    if (!__builtin_mul_overflow(to.layout->size, to.count, &room) &&
        !__builtin_mul_overflow(from.layout->size, from.count, &sent) && sent < room) {
        datatype::cut(to, sent, made);
    }
}

/// As with messages, what is sent has to fit and need not fill where it goes (MPI-4.1, 12.3.1 and
/// 12.3.2). The engine knows sides of one size alone: a MPI_Get_accumulate that combines fewer
/// elements than it fetches, and any, it refuses. `made`: a layout that the operation may have
/// got.
Status fit_sides(Operation& operation, datatype::LayoutPointer& made) noexcept
{
    Buffer target{nullptr, operation.layout, operation.count};
    const bool puts = operation.kind == OperationKind::put ||
                      (operation.kind == OperationKind::accumulate && !operation.result.layout);
    try {
        if (puts) {
            fit(target, operation.origin, made);
        } else if (operation.kind == OperationKind::get) {
            fit(operation.origin, target, made);
        } else if (operation.result.layout != nullptr) {
            fit(operation.result, target, made);
            if (operation.origin.layout != nullptr &&
                operation.origin.bytes() == 0) { // fetches alone
                operation.reduce = ReduceOp::no_op;
                operation.origin = {};
            }
        }
    } catch (const std::bad_alloc&) {
        return Status::no_memory;
    } catch (const std::length_error&) {
        return Status::rma_range;
    }
    operation.layout = target.layout;
    operation.count = target.count;
    return Status::ok;
}

/// An operation to MPI_PROC_NULL is complete when it is called (MPI-4.1, 12.3).
Status hand_over(const WindowObject& object, const OperationCall& call,
                 rma::Request* request) noexcept
{
    if (call.target == MPI_PROC_NULL) {
        rma::finish(request);
        return Status::ok;
    }
    if (object.region != nullptr && call.target != object.region->rank) {
        return Status::rank;
    }
    if (object.watched && settings().check_intrinsic && call.kind != OperationKind::put &&
        call.kind != OperationKind::get) [[unlikely]] {
        check_intrinsic(object, call);
    }
    LastAccess::moved();
    Operation operation;
    operation.thread = flushing_thread(object);
    operation.ordered = object.ordered;
    operation.region = object.region;
    datatype::LayoutPointer made;
    Status status = translate(call, operation);
    if (status == Status::ok && !has_equal_sides(call)) {
        status = fit_sides(operation, made);
    }
    return status == Status::ok ? object.window->issue(operation, request) : status;
}

} // namespace

bool find_reduce_op(MPI_Op op, ReduceOp& found) noexcept
{
    // Most are one of these two, and the list takes as long as a small operation.
    if (op == MPI_SUM || op == MPI_REPLACE) {
        found = op == MPI_SUM ? ReduceOp::sum : ReduceOp::replace;
        return true;
    }
    const KnownOp known[] = {
        {MPI_NO_OP, ReduceOp::no_op},   {MPI_MAX, ReduceOp::max},
        {MPI_MIN, ReduceOp::min},       {MPI_PROD, ReduceOp::prod},
        {MPI_BOR, ReduceOp::bor},       {MPI_BAND, ReduceOp::band},
        {MPI_BXOR, ReduceOp::bxor},     {MPI_LOR, ReduceOp::lor},
        {MPI_LAND, ReduceOp::land},     {MPI_LXOR, ReduceOp::lxor},
        {MPI_MAXLOC, ReduceOp::maxloc}, {MPI_MINLOC, ReduceOp::minloc},
    };
    for (const KnownOp& candidate : known) {
        if (op == candidate.handle) {
            found = candidate.op;
            return true;
        }
    }
    return false;
}

int issue(const WindowObject& object, const OperationCall& call) noexcept
{
    Status status = Status::unsupported;
    bool wants_answers = false;
    if (!HandlerCaller::inside()) [[likely]] {
        Engine& engine = Runtime::existing()->engine();
        const CallNote note(engine);
        const EngineToken token(engine);
        status = hand_over(object, call, nullptr);
        wants_answers = engine.process().wants_answers();
    }
    if (wants_answers) { // a grant, or room for more: else all that follows has to be recorded
        Runtime::pass_by();
    }
    return status == Status::ok ? MPI_SUCCESS : host::mpi::answer_window(status, object.handle);
}

int issue(const WindowObject& object, const OperationCall& call, MPI_Request* request) noexcept
{
    return Runtime::existing()->nonblocking(object, request, [&](rma::Request* engine_side) {
        return hand_over(object, call, engine_side);
    });
}

} // namespace sidelight::api
