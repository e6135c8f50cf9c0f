// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runtime/engine.hpp"
#include "runtime/window_object.hpp"

/// The trace of this process, if SIDELIGHT_TRACE asks for one. See docs/design/trace.md.
namespace sidelight::runtime {

/// Before the first window.
void begin_trace(Engine& engine) noexcept;
/// Who its members are. Does nothing on most of them, and where nothing is traced.
void trace_members(const WindowObject& object) noexcept;
/// The program may end soon: what says when and where things were goes to the file now.
void settle_trace() noexcept;

} // namespace sidelight::runtime
