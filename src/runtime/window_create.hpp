// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runtime/window_object.hpp"

namespace sidelight::runtime {

/// What a window is asked to be, the same for all four calls that make one.
struct WindowRequest {
    rma::Flavor flavor = rma::Flavor::allocate;
    MPI_Aint size = 0;
    MPI_Aint disp_unit = 1;
    MPI_Info info{};
    MPI_Comm comm{};
    void* base = nullptr;    ///< create: the memory
    bool has_answers = true; ///< there are places for what the call answers
};

/// What became of one: at most one of the two.
struct NewWindow {
    WindowObject* object = nullptr;
    Status refused = Status::ok; ///< arguments cannot be, of this member or of another
};

/// What the window's info says of early return is in force from now on. Needs the engine.
void apply_early_return(const WindowObject& object) noexcept;

/// The program's own memory for a window that others on the node have, where it is shared already
/// or may be replaced. Where it stays private the range says why, and once for a window so does the
/// log.
[[nodiscard]] host::memory::SharedRange share_brought(WindowObject& object, const void* base,
                                                      std::size_t bytes) noexcept;

/// Collective: also a member whose arguments cannot be takes part, and all answer its error.
/// Nothing, on all members alike, if the window is for the host to make: neighbours cannot map each
/// other's memory, messages are needed and there is no network, or memory has run out. See
/// docs/design/creation.md. Throws std::bad_alloc and std::system_error.
[[nodiscard]] NewWindow create_window(const WindowRequest& request);

/// Ends one whose engine side is closed and whose handle is freed.
void discard_window(WindowObject& object) noexcept;

} // namespace sidelight::runtime
