// SPDX-License-Identifier: BSD-3-Clause
#include "api/intrinsic_check.hpp"

#include "base/log.hpp"
#include "datatype/mpi/cache.hpp"
#include "rma/accumulate/reduction.hpp"

namespace sidelight::api {

using datatype::Layout;
using rma::OperationKind;
using rma::ReduceOp;

bool has_instruction(ReduceOp op, const Layout& layout) noexcept
{
    return datatype::shape_of(layout.basic).atomic != 0 &&
           rma::reduction(op, layout.basic).atomic != nullptr;
}

bool has_compare_and_swap(const Layout& layout) noexcept
{
    return datatype::shape_of(layout.basic).atomic != 0 && rma::can_compare_and_swap(layout.basic);
}

const Layout* layout_of_predefined(MPI_Datatype type) noexcept
{
    Status why = Status::ok;
    const Layout* layout = datatype::layout_of(type, why);
    return layout != nullptr && layout->predefined ? layout : nullptr;
}

bool maps_everything(rma::Window& window) noexcept
{
    if (window.flavor() == rma::Flavor::dynamic) {
        return false;
    }
    for (int rank = 0; rank < window.size(); ++rank) {
        const rma::Target* member = window.look_up(rank);
        if (member == nullptr || (!member->mapped && member->size != 0)) {
            return false;
        }
    }
    return true;
}

namespace {

/// Why an accumulate is not what was asserted; null: it is, or is an error of another kind.
const char* breach(const WindowObject& object, const OperationCall& call) noexcept
{
    const Layout* layout = layout_of_predefined(call.type);
    ReduceOp op = ReduceOp::no_op;
    if (layout == nullptr) {
        return "its datatype is not a predefined one";
    }
    if (object.info.asserts_single() && call.count > 1) {
        return "acc_single_intrinsic promises one element";
    }
    if (call.kind == OperationKind::accumulate && !find_reduce_op(call.op, op)) {
        return nullptr;
    }
    const bool instruction = call.kind == OperationKind::accumulate ? has_instruction(op, *layout)
                                                                    : has_compare_and_swap(*layout);
    if (!instruction) {
        return "the processor has no instruction for its operation on that datatype";
    }
    return maps_everything(*object.window) ? nullptr
                                           : "the memory of some member is not mapped here";
}

/// Handles of one window of which some assert and some do not.
bool mixes_handles(const WindowObject& object, bool asserts) noexcept
{
    auto& mine = asserts ? object.body->accumulated_intrinsic : object.body->accumulated_otherwise;
    const auto& others =
        asserts ? object.body->accumulated_otherwise : object.body->accumulated_intrinsic;
    return !mine.exchange(true, std::memory_order_relaxed) &&
           others.load(std::memory_order_relaxed);
}

} // namespace

void check_intrinsic(const WindowObject& object, const OperationCall& call) noexcept
{
    const bool asserts = object.info.asserts_intrinsic();
    const char* name =
        call.kind == OperationKind::compare_and_swap ? "compare-and-swap" : "accumulate";
    if (mixes_handles(object, asserts)) {
        log(LogLevel::error,
            "accumulates are issued by handles of one window that assert intrinsic accumulates and "
            "by such that do not: they need not be atomic with one another");
    }
    const char* why = asserts ? breach(object, call) : nullptr;
    if (why != nullptr && !object.reported.exchange(true, std::memory_order_relaxed)) {
        log(LogLevel::error,
            "%s of %lld element(s) at rank %d is not intrinsic, though "
            "mpi_assert_accumulate_intrinsic says so: %s",
            name, static_cast<long long>(call.count), call.target, why);
    }
}

} // namespace sidelight::api
