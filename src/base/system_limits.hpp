// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>

/// What the system refuses, in words that say what mends it.
namespace sidelight {

/// A short text, without an allocation.
struct ReasonText {
    std::array<char, 192> text{};
    [[nodiscard]] explicit operator bool() const noexcept { return text.front() != '\0'; }
    [[nodiscard]] const char* c_str() const noexcept { return text.data(); }
};

/// Why the system refused something about memory or files: the error's own text, and which limit or
/// setting it mostly comes from.
[[nodiscard]] ReasonText reason_of(int error) noexcept;

/// Empty if this process may open so many more files, else why not. What is begun without them
/// fails somewhere in the middle, in our libraries or in the host.
[[nodiscard]] ReasonText lack_of_files(int wanted) noexcept;

/// The same of addresses, in bytes.
[[nodiscard]] ReasonText lack_of_addresses(std::size_t wanted) noexcept;

} // namespace sidelight
