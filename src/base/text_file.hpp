// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <memory>

namespace sidelight {

/// Of text; most are the kernel's, and read.
using TextFile = std::unique_ptr<FILE, int (*)(FILE*)>;

/// Null: there is no such file, or it may not be read.
[[nodiscard]] inline TextFile open_text(const char* path) noexcept
{
    return {std::fopen(path, "re"), std::fclose};
}

} // namespace sidelight
