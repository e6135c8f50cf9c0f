// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace sidelight {

/// The decimal number that the text is, and nothing else; none also where `N` cannot hold it.
template <class N>
[[nodiscard]] std::optional<N> whole_number(std::string_view text) noexcept
{
    N number{};
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number);
    return error == std::errc() && end == last ? std::optional(number) : std::nullopt;
}

} // namespace sidelight
