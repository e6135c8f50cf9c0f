// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "base/status.hpp"
#include "host/mpi/declarations.hpp"

namespace sidelight::runtime {

/// A handler of active messages, as the program has made it an operation.
struct ActiveOperation {
    void* function = nullptr;
    bool fortran = false; ///< its arguments come by reference
};

/// The operations that MPIX_Am_op_create has made, by their handles. Any thread.
namespace active_operations {

/// Throws std::bad_alloc.
void add(MPI_Op handle, const ActiveOperation& operation);
/// Null: it is none.
[[nodiscard]] std::shared_ptr<const ActiveOperation> find(MPI_Op handle) noexcept;
/// The handle is about to be freed.
void remove(MPI_Op handle) noexcept;

} // namespace active_operations

/// By what number a message says which predefined type the handler shall hear of; 0: of none.
[[nodiscard]] std::int32_t code_of_type(MPI_Datatype type) noexcept;
/// Before the first message on that process. Throws std::bad_alloc.
void learn_type_codes();

} // namespace sidelight::runtime
