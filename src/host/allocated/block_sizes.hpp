// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

#include "base/bytes.hpp"
#include "base/shared_memory.hpp"

/// The sizes that blocks of MPI_Alloc_mem come in, so that a block that was freed fits the next one
/// of about that size. Pure.
namespace sidelight::host::allocated {

inline constexpr std::size_t least_block = 64; ///< and the alignment of all: a line of the cache
inline constexpr std::size_t small_block = std::size_t{64} << 10;  ///< up to that many share pages
inline constexpr std::size_t cached_block = std::size_t{32} << 20; ///< up to that, kept when freed

/// Four sizes for each power of two, up to `cached_block`; above, whole pages. With an alignment
/// beyond `least_block`, a power of two, all blocks of that size have it, if it is no more than a
/// page. Zero: there is no such size.
[[nodiscard]] constexpr std::size_t block_size(std::size_t bytes, std::size_t alignment) noexcept
{
    if (bytes > (std::size_t{1} << 62)) {
        return 0;
    }
    bytes = std::max(bytes, least_block);
    if (bytes > cached_block) {
        return round_up(bytes, page_size());
    }
    if (alignment > page_size()) {
        bytes = std::max(bytes, small_block + 1);
    } else if (alignment > least_block && bytes <= small_block) {
        return std::bit_ceil(std::max(bytes, alignment));
    }
    const std::size_t step = std::max(std::bit_ceil(bytes) / 8, least_block);
    return round_up(bytes, bytes > small_block ? std::max(step, page_size()) : step);
}

} // namespace sidelight::host::allocated
