// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "host/memory/address_space.hpp"

/// Transparent huge pages. Without them, memory that is accessed here and there is slower, so
/// shared memory that cannot have them is no replacement for private memory that has.
namespace sidelight::host::memory {

/// When the kernel uses huge pages for files of memory.
enum class SharedHugePages : std::uint8_t {
    never,
    advised, ///< where madvise asks for them
    always,
};

/// What memory that replaces other memory is to get.
enum class HugePages : std::uint8_t {
    none,
    advised,   ///< by madvise, as pages are touched
    collapsed, ///< each where something was touched before; see collapse.hpp
};

/// What a text like "always within_size [advise] never deny force" says.
[[nodiscard]] SharedHugePages shared_huge_pages(std::string_view text) noexcept;
/// The same for this system; `never` where it does not tell.
[[nodiscard]] SharedHugePages shared_huge_pages() noexcept;
/// Bytes of one; 0 where there are none.
[[nodiscard]] std::size_t huge_page_size() noexcept;

/// Whether `pages`, a part of the area, touch a huge page that the area has or may get.
[[nodiscard]] bool touches_huge_page(const Area& area, Span pages, std::size_t huge) noexcept;

/// Whether something was written into each whole huge page in `pages`, which are private.
[[nodiscard]] bool all_huge_pages_touched(Span pages, std::size_t huge) noexcept;

} // namespace sidelight::host::memory
