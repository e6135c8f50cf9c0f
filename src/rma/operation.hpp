// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "datatype/layout.hpp"
#include "rma/reduction.hpp"
#include "rma/request.hpp"

namespace sidelight::rma {

enum class OperationKind : std::uint8_t {
    marker, ///< nothing: a flush leaves one where access is not granted; completes in its turn
    put,
    get,
    accumulate, ///< with a result buffer: get_accumulate and fetch_and_op
    compare_and_swap,
};

/// One call of an RMA operation, its arguments checked as far as they can be without a window.
struct Operation {
    OperationKind kind = OperationKind::marker;
    ReduceOp reduce = ReduceOp::no_op; ///< accumulate
    int target = 0;                    ///< rank in the window
    std::int64_t displacement = 0;     ///< in displacement units of the target
    datatype::Buffer origin{};         ///< what is read, or for a get written, here
    datatype::Buffer result{};         ///< accumulate that fetches, compare_and_swap: old values
    const void* compare = nullptr;     ///< compare_and_swap
    const datatype::Layout* layout = nullptr; ///< one element at the target
    std::size_t count = 0;                    ///< elements at the target
};

/// How much of the target's memory it reads or writes. The origin's side may be missing.
[[nodiscard]] inline std::size_t data_bytes(const Operation& operation) noexcept
{
    return operation.layout->size * operation.count;
}

/// Whether it is an accumulate in MPI's sense, of which those from one origin to one location keep
/// their order.
[[nodiscard]] inline bool combines(const Operation& operation) noexcept
{
    return operation.kind == OperationKind::accumulate ||
           operation.kind == OperationKind::compare_and_swap;
}

/// An operation in flight or recorded in an epoch. From the process's pool; lives from the call
/// until it is complete at the target. Holds a reference to each layout it names.
struct Op {
    Operation operation;
    Request* request = nullptr; ///< of the request-based forms
    std::uint64_t age = 0;      ///< position in the order of issue on this window
    std::size_t address = 0;    ///< offset in the target's memory, range already checked
    std::uint32_t part = 0;     ///< index in the epoch
    bool locally_complete = false;
    bool combining = false;      ///< it counts in its target's `combining`
    bool holds = false;          ///< it keeps its epoch's announcement back
    Status failure = Status::ok; ///< why it was not performed
    class Window* window = nullptr;
    struct Epoch* epoch = nullptr; ///< the epoch that it was issued in
    Op* next = nullptr;
};

} // namespace sidelight::rma
