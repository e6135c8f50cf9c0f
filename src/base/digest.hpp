// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

namespace sidelight {

/// A number for a text, equal for equal texts in every process (FNV-1a). Not against malice.
[[nodiscard]] constexpr std::uint64_t digest(std::string_view text) noexcept
{
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    }
    return hash;
}

} // namespace sidelight
