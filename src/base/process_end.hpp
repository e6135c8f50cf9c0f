// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace sidelight {

/// Whether that process of this node has ended, whether or not somebody has waited for it. False
/// where that cannot be known. A number that is used again is a process that lives.
[[nodiscard]] bool has_ended(int process) noexcept;

} // namespace sidelight
