// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.hpp"
#include "host/mpi/declarations.hpp"

namespace sidelight::runtime {

/// How a handler takes its arguments.
enum class HandlerForm : std::uint8_t {
    plain,         ///< counts are ints
    large,         ///< counts are MPI_Count
    fortran,       ///< all by reference, counts are integers
    large_fortran, ///< likewise, counts are of MPI_COUNT_KIND
};

/// The largest count that a handler of that form can be told.
[[nodiscard]] constexpr std::uint64_t most_told(HandlerForm form) noexcept
{
    const bool large = form == HandlerForm::large || form == HandlerForm::large_fortran;
    return large ? INT64_MAX : INT32_MAX;
}

/// A handler of active messages, as the program has made it an operation.
struct ActiveOperation {
    void* function = nullptr;
    HandlerForm form = HandlerForm::plain;
    std::string name; ///< of the function, for people; empty: see active_operations::add
};

/// The operations that MPIX_Am_op_create has made, by their handles. Any thread.
namespace active_operations {

/// Finds its name, too. Throws std::bad_alloc.
void add(MPI_Op handle, ActiveOperation operation);
/// Null: it is none.
[[nodiscard]] std::shared_ptr<const ActiveOperation> find(MPI_Op handle) noexcept;
/// The handle is about to be freed.
void remove(MPI_Op handle) noexcept;

inline std::atomic<std::uint64_t> changes_so_far{0};
inline void note_change() noexcept { changes_so_far.fetch_add(1, std::memory_order_relaxed); }
/// How often a window has heard of an operation, or one was freed, anywhere: what was found by a
/// handle before may be another one now, or none.
[[nodiscard]] inline std::uint64_t changes() noexcept
{
    return changes_so_far.load(std::memory_order_relaxed);
}

} // namespace active_operations

/// By what number a message says which predefined type the handler shall hear of; 0: of none.
[[nodiscard]] std::int32_t code_of_type(MPI_Datatype type) noexcept;
/// Before the first message on that process. Throws std::bad_alloc.
void learn_type_codes();

} // namespace sidelight::runtime
