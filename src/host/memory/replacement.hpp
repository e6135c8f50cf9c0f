// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/shared_memory.hpp"
#include "host/memory/span.hpp"

/// Pages of this process change what is behind them, and keep their addresses and contents. All
/// spans are whole pages. Nobody else may store into them while they move to a file.
namespace sidelight::host::memory {

/// How much is there twice at a time.
inline constexpr std::size_t piece_bytes = std::size_t{64} << 20;

/// Private pages become those of an empty file, from its beginning on. What never had a page stays
/// a hole. False, with errno: the pages are private as before.
[[nodiscard]] bool move_to_file(Span pages, const File& file) noexcept;

/// Pages that are mapped from `offset` on become private to this process again, in the file there
/// is a hole afterwards, and what gives pages back finds zeros. Other threads lose no store
/// meanwhile. False, with errno: some are as they were.
[[nodiscard]] bool move_to_private(Span pages, const File& file, std::uint64_t offset) noexcept;

} // namespace sidelight::host::memory
