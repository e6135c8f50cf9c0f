// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/mpi/declarations.hpp"
#include "rma/operation.hpp"
#include "runtime/window_object.hpp"

namespace sidelight::api {

using runtime::WindowObject;

/// The arguments of an RMA operation as MPI hands them over, the same for every form of it.
struct OperationCall {
    rma::OperationKind kind = rma::OperationKind::marker;
    const void* origin = nullptr; ///< a get writes to it
    MPI_Count origin_count = 0;
    MPI_Datatype origin_type{};
    int target = 0;
    MPI_Aint displacement = 0;
    MPI_Count count = 0;
    MPI_Datatype type{};
    MPI_Op op{};          ///< accumulates
    bool fetches = false; ///< whether the result is asked for
    void* result = nullptr;
    MPI_Count result_count = 0;
    MPI_Datatype result_type{};
    const void* compare = nullptr; ///< compare_and_swap
    bool one_element = false;      ///< fetch_and_op and compare_and_swap: predefined types only
    rma::FlushScope request_scope = rma::FlushScope::local; ///< of a request-based form
    int notification = -1; ///< the target's counter to be raised behind it; -1: none
};

/// The long way of an operation: checks the arguments and hands it to the engine, which performs or
/// records it. Never waits. Answers what the MPI call answers.
int issue(const WindowObject& object, const OperationCall& call) noexcept;

/// The request-based forms: `request` completes when the operation is complete where its
/// `request_scope` says.
int issue(const WindowObject& object, const OperationCall& call, MPI_Request* request) noexcept;

/// The predefined operation behind a handle; false where there is none: MPI_OP_NULL, or one that
/// the user has made, which accumulates do not take (MPI-4.1, 12.3.4).
[[nodiscard]] bool find_reduce_op(MPI_Op op, rma::ReduceOp& found) noexcept;

} // namespace sidelight::api
