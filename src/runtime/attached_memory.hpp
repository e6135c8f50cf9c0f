// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runtime/window_object.hpp"

namespace sidelight::runtime {

/// MPI_Win_attach and MPI_Win_detach (MPI-4.1, 12.2.4). Local: they take the engine, and
/// a detach waits for the network where it has told others of that memory, and for nobody's calls.
[[nodiscard]] Status attach(WindowObject& object, void* base, MPI_Aint size) noexcept;
[[nodiscard]] Status detach(WindowObject& object, const void* base) noexcept;

} // namespace sidelight::runtime
