// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runtime/window_create.hpp"

namespace sidelight::runtime {

/// Collective over the members of the window, of whom this one is `rank`. The new window, which is
/// in the table; null, on all members alike, if it is for the host to make. Also a member that runs
/// out of memory takes part in all of it, and the others hear of that.
[[nodiscard]] WindowObject* make_together(const WindowRequest& request, int members, int rank);

} // namespace sidelight::runtime
