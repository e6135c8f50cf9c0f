// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace sidelight::host {

/// What people can look up: the name of a function where it has one, and its place in its file.
/// Throws std::bad_alloc.
[[nodiscard]] std::string name_of_function(const void* function);

/// From now on, when a fault or abort() hits a thread of which `running` tells something, a line on
/// the standard error says so. Then all goes on as if nobody had looked: whoever had been asked
/// about that signal before is asked again. `running` is called in the signal handler. The first
/// call counts.
void tell_crashes(const char* (*running)() noexcept) noexcept;

} // namespace sidelight::host
