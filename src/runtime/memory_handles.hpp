// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rma/region/memory_handle.hpp"
#include "runtime/window_object.hpp"

/// Memory handles and their windows (P2, section 4.2): local calls; they take the engine. See
/// docs/design/memory-handles.md.
namespace sidelight::runtime {

/// Exposes memory of this process under a name of the dynamic window `parent`.
[[nodiscard]] Status create_memory_handle(WindowObject& parent, void* base, MPI_Aint size,
                                          MPI_Info info, rma::MemoryHandle& handle) noexcept;
/// Ends that. Waits for what the fabric is at in the memory, let in before, and for nothing else.
[[nodiscard]] Status release_memory_handle(WindowObject& parent,
                                           const rma::MemoryHandle& handle) noexcept;

/// What the program wants of the window of a handle.
struct HandleWindowRequest {
    MPI_Aint size = 0;
    int disp_unit = 1;
    MPI_Info info{};
    int target = 0;
};
/// Makes a window of one target, with the parent's keys and those of the info that can be honoured,
/// and its error handler.
[[nodiscard]] Status create_handle_window(const WindowObject& parent,
                                          const rma::MemoryHandle& handle,
                                          const HandleWindowRequest& request,
                                          MPI_Win* window) noexcept;
/// Frees it, whether its parent is still there or not, and sets it to MPI_WIN_NULL. The host's
/// error code: a delete callback may have refused, then the window lives on.
[[nodiscard]] int free_handle_window(WindowObject& object, MPI_Win* window) noexcept;

} // namespace sidelight::runtime
