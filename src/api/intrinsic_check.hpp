// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "api/operation_call.hpp"
#include "datatype/layout.hpp"

namespace sidelight::api {

/// Whether the processor has instructions for an operation on elements of that predefined type.
[[nodiscard]] bool has_instruction(rma::ReduceOp op, const datatype::Layout& layout) noexcept;
[[nodiscard]] bool has_compare_and_swap(const datatype::Layout& layout) noexcept;
/// The layout of a type that MPI has, in this process perhaps for the first time; null if it is
/// another.
[[nodiscard]] const datatype::Layout* layout_of_predefined(MPI_Datatype type) noexcept;
/// Whether the memory of every member is mapped here, all that it will ever have. Needs the engine.
[[nodiscard]] bool maps_everything(rma::Window& window) noexcept;

/// Compares an accumulate with what the program has asserted of its handle (P2, section 2.3), and
/// reports in the log the first on each handle that MPIX_Win_op_intrinsic would say no to; and the
/// first with which handles of one window that assert and such that do not are both in use: these
/// are not promised to be atomic with one another. Needs the engine.
void check_intrinsic(const WindowObject& object, const OperationCall& call) noexcept;

} // namespace sidelight::api
