// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/held_file.hpp"
#include "host/memory/span.hpp"

/// What the kernel says about this process's memory, in /proc/self.
namespace sidelight::host::memory {

/// One mapping: a line of /proc/self/maps, with what smaps adds.
struct Area {
    Span span;
    bool readable = false;
    bool writable = false;
    bool executable = false;
    bool shared = false;
    std::uint64_t offset = 0; ///< in the file
    std::uint64_t device = 0; ///< of the file, as stat says it
    std::uint64_t inode = 0;  ///< of the file; 0: anonymous memory
    std::string name;         ///< path or [kind]; empty for most anonymous memory
    std::string flags;        ///< from smaps only: two letters each, with a blank behind
};

enum class Detail : std::uint8_t {
    mappings, ///< what maps says: the kernel writes down all mappings of the process up to the last
    flags,    ///< what smaps says too: the kernel looks at every page as well
};

/// The areas that have a part of `span`, in the order of addresses; none where the kernel does not
/// tell. Throws std::bad_alloc.
[[nodiscard]] std::vector<Area> areas_in(Span span, Detail detail);

/// The same from a text in the format of maps or smaps.
[[nodiscard]] std::vector<Area> read_areas(const char* path, Span span);

/// Whether the area is one of that file.
[[nodiscard]] inline bool is_of(const Area& area, const FileIdentity& file) noexcept
{
    return file.inode != 0 && FileIdentity{area.device, area.inode} == file;
}

/// Whether the areas hold all of the span, without a gap.
[[nodiscard]] bool cover(const std::vector<Area>& areas, Span span) noexcept;

} // namespace sidelight::host::memory
