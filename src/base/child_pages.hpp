// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/shared_memory.hpp"

namespace sidelight {

/// For a child of fork, which leaves a file that is mapped there to its parent: pages become its
/// own when it writes to them; until then it sees what the parent writes. Where the program has
/// closed the file they are copied at once; where that cannot be either, it can only read them.
void keep_apart_in_child(void* pages, std::size_t bytes, const File& file,
                         std::uint64_t offset) noexcept;

} // namespace sidelight
