// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>

/// Transparent huge pages. Without them memory that is accessed here and there is slower, so shared
/// memory that cannot have them is no replacement for private memory that would.
namespace sidelight::host::allocated {

/// The word in brackets of a text like "always within_size [advise] never"; empty: none.
[[nodiscard]] std::string_view chosen_word(std::string_view text) noexcept;

/// What this system gives. Read once, at the first call.
struct HugePages {
    std::size_t bytes = 0;    ///< of one; 0: there are none
    bool for_private = false; ///< private memory gets them unasked
    bool for_advised = false; ///< and where madvise asks for them
    bool for_shared = false;  ///< files of memory get them, at least where madvise asks
};
[[nodiscard]] const HugePages& huge_pages() noexcept;

/// Whether memory of that size would have huge pages if it were private. `advised`: whoever hands
/// it out asks for them.
[[nodiscard]] bool would_have_huge_pages(const HugePages& system, std::size_t bytes,
                                         bool advised) noexcept;

} // namespace sidelight::host::allocated
