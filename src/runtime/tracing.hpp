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
/// A call on this window has given the program a request.
void trace_request(const WindowObject& object, MPI_Request request,
                   trace::RequestKind kind) noexcept;
/// A request that was given to the program. Its handle may be another's as soon as it has ended.
struct TracedRequest {
    MPI_Request handle{};
    trace::Track track;       ///< of its window
    std::uint64_t serial = 0; ///< of all that were traced
};
/// Such a request that has not ended; of no window for all others.
[[nodiscard]] TracedRequest find_traced(MPI_Request request) noexcept;
/// A call has ended it.
void trace_end(const TracedRequest& request) noexcept;
/// The program may end soon: what says when and where things were goes to the file now.
void settle_trace() noexcept;

} // namespace sidelight::runtime
