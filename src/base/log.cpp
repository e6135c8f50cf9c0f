// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include <unistd.h>

#include "base/settings.hpp"

namespace sidelight {
namespace {

constexpr std::array level_names{"none", "error", "warn", "info", "debug"};

} // namespace

const char* log_level_name(LogLevel level) noexcept
{
    return level_names[static_cast<std::size_t>(level)];
}

LogLevel log_level(const char* word, LogLevel fallback) noexcept
{
    for (std::size_t i = 0; i < level_names.size(); ++i) {
        if (std::strcmp(word, level_names[i]) == 0) {
            return static_cast<LogLevel>(i);
        }
    }
    return fallback;
}

void log(LogLevel level, const char* format, ...) noexcept
{
    if (level > settings().log) {
        return;
    }
    // One write, so that the lines of several ranks do not mix.
    std::array<char, 512> line;
    const int head = std::snprintf(line.data(), line.size(), "sidelight[%d] %s: ", getpid(),
                                   log_level_name(level));
    const auto start = static_cast<std::size_t>(head);
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(line.data() + start, line.size() - start - 1, format, arguments);
    va_end(arguments);
    const std::size_t length = std::strlen(line.data());
    line[length] = '\n';
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), length + 1);
}

} // namespace sidelight
