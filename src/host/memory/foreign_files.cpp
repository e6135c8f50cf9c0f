// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/foreign_files.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptors.hpp"

namespace sidelight::host::memory {
namespace {

/// Names `path` by a descriptor if it is the file wanted, an ordinary one (memory of a device is
/// not for us), and one that may be opened. The descriptor itself opens nothing: its end takes no
/// locks.
File open_if_same(const char* path, const FileIdentity& wanted) noexcept
{
    struct stat status {};
    File file(open(path, O_PATH | O_CLOEXEC));
    const bool same = file && fstat(file.descriptor(), &status) == 0 && S_ISREG(status.st_mode) &&
                      FileIdentity{status.st_dev, status.st_ino} == wanted &&
                      faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0;
    return same ? std::move(file) : File();
}

/// Through a descriptor that somebody in this process has left open.
File open_descriptor(const FileIdentity& wanted) noexcept
{
    File found;
    any_descriptor([&](int descriptor) {
        char path[32];
        std::snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
        found = open_if_same(path, wanted);
        return static_cast<bool>(found);
    });
    return found;
}

/// The kernel opens a mapping's own file for processes with the right to.
File open_again(const Area& area, const FileIdentity& wanted) noexcept
{
    char path[96];
    std::snprintf(path, sizeof path, "/proc/self/map_files/%lx-%lx", area.span.first,
                  area.span.last);
    File file = open_if_same(path, wanted);
    if (!file && area.name.starts_with('/')) {
        file = open_if_same(area.name.c_str(), wanted);
    }
    return file ? std::move(file) : open_descriptor(wanted);
}

} // namespace

bool are_one_file(const std::vector<Area>& areas) noexcept
{
    return !areas.empty() && std::all_of(areas.begin(), areas.end(), [&](const Area& area) {
        const Area& first = areas.front();
        return area.shared && is_of(area, {first.device, first.inode}) &&
               area.offset - first.offset == area.span.first - first.span.first;
    });
}

int ForeignFiles::acquire(const Area& area)
{
    const FileIdentity file{area.device, area.inode};
    auto found = std::find_if(entries_.begin(), entries_.end(),
                              [&](const Entry& entry) { return entry.file.identity() == file; });
    if (found == entries_.end() || !found->file.file()) {
        HeldFile opened(open_again(area, file));
        if (!opened.file()) {
            return -1;
        }
        if (found == entries_.end()) {
            found = entries_.emplace(found);
        }
        found->file = std::move(opened);
    }
    ++found->users;
    return found->file.file().descriptor();
}

void ForeignFiles::release(const FileIdentity& file) noexcept
{
    entries_.remove_if(
        [&](Entry& entry) { return entry.file.identity() == file && --entry.users == 0; });
}

} // namespace sidelight::host::memory
