// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <memory>

namespace sidelight {

/// A file that is read, one of the kernel's mostly.
using TextFile = std::unique_ptr<FILE, int (*)(FILE*)>;

/// Null: there is no such file, or it may not be read.
[[nodiscard]] inline TextFile open_text(const char* path) noexcept
{
    return {std::fopen(path, "re"), std::fclose};
}

} // namespace sidelight
