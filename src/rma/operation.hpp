// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "datatype/layout.hpp"
#include "rma/kinds.hpp"
#include "rma/request.hpp"

namespace sidelight::rma {

struct ActiveCall;
struct ActiveMessage;
struct Channel;
struct Epoch;
struct HandleRegion;
struct KeptData;

enum class OperationKind : std::uint8_t {
    marker, ///< nothing: a flush leaves one where access is not granted; completes in its turn
    put,
    get,
    accumulate, ///< with a result buffer: get_accumulate and fetch_and_op
    compare_and_swap,
    active_message, ///< a handler of the program, run on the target's memory (P5)
};

/// One call of an RMA operation, its arguments checked as far as they can be without a window.
struct Operation {
    OperationKind kind = OperationKind::marker;
    ReduceOp reduce = ReduceOp::no_op;  ///< accumulate
    bool ordered = false;               ///< behind all ordered ones before it to the same target
    int target = 0;                     ///< rank in the window
    std::int64_t displacement = 0;      ///< in displacement units of the target
    datatype::Buffer origin{};          ///< what is read, or for a get written, here
    datatype::Buffer result{};          ///< accumulate that fetches, compare_and_swap: old values
    const void* compare = nullptr;      ///< compare_and_swap
    const ActiveCall* active = nullptr; ///< active_message: the rest; the above is one segment
    const datatype::Layout* layout = nullptr;     ///< one element at the target
    std::size_t count = 0;                        ///< elements at the target
    FlushScope request_scope = FlushScope::local; ///< where it is complete when its request is
    ThreadNumber thread = no_thread;              ///< whose flushes wait for it, beside others
    std::int32_t notification = -1; ///< the target's counter to be raised behind it; -1: none
    /// What a memory handle names: the displacement counts from there, in its own units. Null: the
    /// target's memory is meant.
    HandleRegion* region = nullptr;
};

/// Whether a counter of the target is to be raised, and has not been yet.
[[nodiscard]] inline bool notifies(const Operation& operation) noexcept
{
    return operation.notification >= 0;
}

/// How much of the target's memory it reads or writes. The origin's side may be missing.
[[nodiscard]] inline std::size_t data_bytes(const Operation& operation) noexcept
{
    return operation.layout->size * operation.count;
}

/// Whether the target answers it by itself, and what comes behind it must wait for that: it brings
/// data back, or is not performed as soon as it has come.
[[nodiscard]] bool is_answered(const Operation& operation) noexcept;

/// Whether it is put or get, which a fabric may perform on memory by itself.
[[nodiscard]] inline bool moves_bytes(const Operation& operation) noexcept
{
    return operation.kind == OperationKind::put || operation.kind == OperationKind::get;
}

/// Whether it is one of those that MPI orders among themselves (MPI-4.1, 12.7.2).
[[nodiscard]] inline bool is_accumulate(const Operation& operation) noexcept
{
    return operation.kind == OperationKind::accumulate ||
           operation.kind == OperationKind::compare_and_swap;
}

/// Whether it may not overtake some of those that were issued before it.
[[nodiscard]] inline bool keeps_order(const Operation& operation) noexcept
{
    return operation.ordered || is_accumulate(operation);
}

/// Where data that come back from the target go; null: none come.
[[nodiscard]] inline const datatype::Buffer* returned_to(const Operation& operation) noexcept
{
    if (operation.kind == OperationKind::get) {
        return &operation.origin;
    }
    return operation.result.layout != nullptr ? &operation.result : nullptr;
}

/// The life of an operation that was not performed within its call. Diagram:
/// docs/design/operations.md.
enum class OperationState : std::uint8_t {
    recorded, ///< it waits for its epoch to be granted
    leaving,  ///< it is performed, or leaves as messages, which may not all have been sent
    sent,     ///< all its messages are sent: what follows them comes after them at the target
    local,    ///< complete at the origin: its buffers are free; of a put by the fabric, no more
    complete, ///< complete at the target too
    illegal,
};

enum class OperationEvent : std::uint8_t {
    begin,        ///< its turn has come
    all_sent,     ///< its last message has left
    buffers_free, ///< nothing is read from or written to memory of the origin any more
    all_answered, ///< the target has performed it, or somebody says that it never will
};

/// The transition table. An event that the state does not allow leads to `illegal`.
[[nodiscard]] OperationState next_state(OperationState state, OperationEvent event) noexcept;

/// An operation in flight or recorded in an epoch. From the process's pool; lives from the call
/// until it is complete at the target. Holds a reference to each layout it names, and to the
/// region.
struct Op {
    Operation operation;
    Request* request = nullptr; ///< of the request-based forms, until it is complete
    std::uint64_t age = 0;      ///< position in the order of issue on this window
    std::size_t address = 0;    ///< offset in the target's memory, range already checked
    Epoch* epoch = nullptr;     ///< the epoch that it was issued in
    std::uint32_t peer = 0;     ///< index of its target in the epoch
    OperationState state = OperationState::recorded;
    bool awaited = false;             ///< somebody may wait for it at the target: no start epoch's
    bool first = false;               ///< of those in its epoch towards its target
    bool alone = false;               ///< the first since the program last waited, when issued
    bool holds_back = false;          ///< the notice that its epoch is closed waits for it
    Status failure = Status::ok;      ///< why it was not performed
    Channel* ordered_on = nullptr;    ///< counted there among those whose order counts
    Road road = Road::waiting;        ///< likewise
    bool gates = false;               ///< operations of its epoch to its target wait for it
    ActiveMessage* message = nullptr; ///< active_message: what it has while it is under way
    KeptData* kept = nullptr;         ///< what it reads, if its closing call has returned early
    Op* next = nullptr;
    alignas(16) std::array<std::byte, 32> little{}; ///< what it reads, if that is so little
};

/// Whether a request waits for it to be complete at the target.
[[nodiscard]] inline bool has_remote_request(const Operation& operation,
                                             const Request* request) noexcept
{
    return request != nullptr && operation.request_scope == FlushScope::remote;
}
[[nodiscard]] inline bool has_remote_request(const Op& op) noexcept
{
    return has_remote_request(op.operation, op.request);
}

/// Who keeps count of operations that travel. Implemented by the owner of the epochs.
class OperationObserver {
public:
    /// `op` has left the state `from`. It may be gone on return if it is complete.
    virtual void moved(Op& op, OperationState from) noexcept = 0;

protected:
    ~OperationObserver() = default;
};

} // namespace sidelight::rma
