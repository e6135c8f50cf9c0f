// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/mpi/declarations.hpp"
#include "rma/active/call.hpp"
#include "rma/operation.hpp"
#include "runtime/window_object.hpp"

/// What the forms of MPIX_Am have in common.
namespace sidelight::api {

using runtime::WindowObject;

/// One side of the message at the origin, and the datatype that the handler sees it as.
struct SideArguments {
    const void* address;
    MPI_Count count;
    MPI_Datatype type;
    MPI_Datatype target_type;
};

/// The arguments of MPIX_Am, the same for every form of it.
struct ActiveArguments {
    SideArguments input;
    SideArguments output;
    MPI_Count segments;
    int target;
    MPI_Aint displacement;
    MPI_Count count;
    MPI_Datatype type;
    MPI_Op op;
    int notification = -1; ///< the target's counter to be raised behind it; -1: none
};

/// The MPI handles resolved; ranks, ranges and epochs are the engine's to check. `call` must live
/// as long as `operation`. Needs the engine.
[[nodiscard]] Status translate(const WindowObject& object, const ActiveArguments& arguments,
                               rma::Operation& operation, rma::ActiveCall& call) noexcept;

/// Runs the handler within the call, where that is all there is to do: mapped memory, few bytes of
/// predefined types, nothing before it, and nobody in the way. Answers whether it has; if not,
/// nothing has happened. Must not hold the engine.
[[nodiscard]] bool run_directly(const WindowObject& object,
                                const ActiveArguments& arguments) noexcept;

} // namespace sidelight::api
