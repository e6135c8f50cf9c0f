// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace sidelight {

/// After so many bytes were freed. The C library keeps memory that was freed below something that
/// is still in use; where it is much, it is asked to give that back to the system. That takes some
/// milliseconds. Other allocators give it back by themselves. Any thread.
void trim_heap(std::size_t freed) noexcept;

} // namespace sidelight
