// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sidelight::host::memory {

/// Addresses of this process: from `first` up to `last`, without it.
struct Span {
    std::uintptr_t first = 0;
    std::uintptr_t last = 0;

    [[nodiscard]] bool empty() const noexcept { return first >= last; }
    [[nodiscard]] std::size_t bytes() const noexcept { return empty() ? 0 : last - first; }
    [[nodiscard]] bool holds(std::uintptr_t address) const noexcept
    {
        return first <= address && address < last;
    }
    [[nodiscard]] std::byte* data() const noexcept { return reinterpret_cast<std::byte*>(first); }

    bool operator==(const Span&) const = default;
};

/// What both have in common; may be empty.
[[nodiscard]] inline Span common_part(Span one, Span other) noexcept
{
    return {std::max(one.first, other.first), std::min(one.last, other.last)};
}

/// The whole pages of `page` bytes (a power of two) that hold the span.
[[nodiscard]] inline Span pages_of(Span span, std::size_t page) noexcept
{
    return {span.first & ~(page - 1), (span.last + page - 1) & ~(page - 1)};
}

} // namespace sidelight::host::memory
