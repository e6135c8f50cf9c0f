// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace sidelight {

enum class LogLevel : std::uint8_t { none, error, warn, info, debug };

/// Writes one line to standard error, in one piece, if SIDELIGHT_LOG asks for its level. `format`
/// is printf's. Formats and writes: not for the data path.
[[gnu::format(printf, 2, 3)]] void log(LogLevel level, const char* format, ...) noexcept;

/// A level's name, and the level of a name; `fallback` if it is none.
[[nodiscard]] const char* log_level_name(LogLevel level) noexcept;
[[nodiscard]] LogLevel log_level(const char* word, LogLevel fallback) noexcept;

} // namespace sidelight
