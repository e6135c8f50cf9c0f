// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runtime/window_object.hpp"

/// More handles of one window (P2, section III). See docs/design/duplicates.md.
namespace sidelight::runtime {

/// The keys of a handle with the values in force. Takes the engine. Throws std::bad_alloc.
[[nodiscard]] WindowInfo info_in_force(const WindowObject& object);

/// One more handle of a window, before MPI knows of it: with the parent's keys and those of `info`
/// that can be honoured. To be given back to the table. Throws std::bad_alloc.
[[nodiscard]] WindowObject& prepare_handle(const WindowObject& parent, MPI_Info info);
/// The host's error code.
[[nodiscard]] int inherit_error_handler(const WindowObject& parent,
                                        const WindowObject& object) noexcept;

/// Makes a handle of the window of `parent`, with the parent's keys and those of `info` that can be
/// honoured, its error handler, and the attributes that their copy callbacks let it have. Local.
[[nodiscard]] Status duplicate_window(const WindowObject& parent, MPI_Info info,
                                      MPI_Win* handle) noexcept;

/// Frees the handle of a duplicate, whether its window is still there or not, and sets it to
/// MPI_WIN_NULL. Local. The host's error code: a delete callback may have refused, then the
/// duplicate lives on.
[[nodiscard]] int free_duplicate(WindowObject& object, MPI_Win* handle) noexcept;

} // namespace sidelight::runtime
