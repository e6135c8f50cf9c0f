// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/address_space.hpp"

#include <array>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include <sys/sysmacros.h>

#include "base/text_file.hpp"

namespace sidelight::host::memory {
namespace {

/// "first-last rwxp offset major:minor inode   name"; not set if the line is none of these.
std::optional<Area> read_head(const char* line)
{
    Area area;
    std::array<char, 5> rights{};
    unsigned int major = 0;
    unsigned int minor = 0;
    int name_at = 0;
    if (std::sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &area.span.first, &area.span.last,
                    rights.data(), &area.offset, &major, &minor, &area.inode, &name_at) != 7) {
        return std::nullopt;
    }
    area.readable = rights[0] == 'r';
    area.writable = rights[1] == 'w';
    area.executable = rights[2] == 'x';
    area.shared = rights[3] == 's';
    area.device = makedev(major, minor);
    area.name = line + name_at;
    return area;
}

} // namespace

std::vector<Area> read_areas(const char* path, Span span)
{
    constexpr std::string_view flags = "VmFlags: ";
    const TextFile text = open_text(path);
    std::vector<Area> areas;
    std::array<char, 4500> line{}; // a path and what is before it
    bool wanted = false;
    while (text != nullptr && std::fgets(line.data(), line.size(), text.get()) != nullptr) {
        std::string_view content = line.data();
        line[content.size() - (content.ends_with('\n') ? 1 : 0)] = '\0';
        if (auto area = read_head(line.data())) {
            if (area->span.first >= span.last) {
                break;
            }
            wanted = !common_part(area->span, span).empty();
            if (wanted) {
                areas.push_back(std::move(*area));
            }
        } else if (wanted && content.starts_with(flags)) {
            areas.back().flags = line.data() + flags.size();
        }
    }
    return areas;
}

std::vector<Area> areas_in(Span span, Detail detail)
{
    return read_areas(detail == Detail::flags ? "/proc/self/smaps" : "/proc/self/maps", span);
}

bool cover(const std::vector<Area>& areas, Span span) noexcept
{
    for (const Area& area : areas) {
        if (area.span.first > span.first) {
            return false;
        }
        span.first = area.span.last;
    }
    return span.empty();
}

} // namespace sidelight::host::memory
