// SPDX-License-Identifier: BSD-3-Clause
#include "host/memory/foreign_files.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sidelight::host::memory {
namespace {

/// Opens `path` if it is the file wanted, and an ordinary one: memory of a device is not for us.
File open_if_same(const char* path, const FileIdentity& wanted) noexcept
{
    struct stat status {};
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
        FileIdentity{status.st_dev, status.st_ino} != wanted) {
        return File();
    }
    File file(open(path, O_RDWR | O_CLOEXEC));
    const bool same = file && fstat(file.descriptor(), &status) == 0 &&
                      FileIdentity{status.st_dev, status.st_ino} == wanted;
    return same ? std::move(file) : File();
}

/// The kernel opens a mapping's own file for processes with the right to.
File open_mapping(Span area, const FileIdentity& wanted) noexcept
{
    char path[96];
    std::snprintf(path, sizeof path, "/proc/self/map_files/%lx-%lx", area.first, area.last);
    return open_if_same(path, wanted);
}

class NameVisitor final : public AreaVisitor {
public:
    bool visit(const Area& area) noexcept override
    {
        name_ = area.name;
        return false;
    }
    [[nodiscard]] const char* name() const noexcept { return name_.data(); }

private:
    decltype(Area::name) name_{};
};

File open_name(Span area, const FileIdentity& wanted) noexcept
{
    NameVisitor visitor;
    visit_areas(area, Detail::mappings, visitor);
    return visitor.name()[0] == '/' ? open_if_same(visitor.name(), wanted) : File();
}

/// Through a descriptor that somebody in this process has left open.
File open_descriptor(const FileIdentity& wanted) noexcept
{
    const std::unique_ptr<DIR, int (*)(DIR*)> all(opendir("/proc/self/fd"), closedir);
    File found;
    while (all != nullptr && !found) {
        const dirent* entry = readdir(all.get()); // NOLINT: nobody else has this directory
        if (entry == nullptr) {
            break;
        }
        char path[sizeof "/proc/self/fd/" + sizeof entry->d_name];
        std::snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        found = open_if_same(path, wanted);
    }
    return found;
}

File open_again(const FileIdentity& wanted, Span area) noexcept
{
    File file = open_mapping(area, wanted);
    if (!file) {
        file = open_name(area, wanted);
    }
    return file ? std::move(file) : open_descriptor(wanted);
}

} // namespace

int ForeignFiles::acquire(const FileIdentity& file, Span area)
{
    auto found = std::find_if(entries_.begin(), entries_.end(),
                              [&](const Entry& entry) { return entry.identity == file; });
    if (found == entries_.end()) {
        File opened = open_again(file, area);
        if (!opened) {
            return -1;
        }
        entries_.push_front({file, std::move(opened), 0});
        found = entries_.begin();
    }
    ++found->users;
    return found->file.descriptor();
}

void ForeignFiles::release(const FileIdentity& file) noexcept
{
    entries_.remove_if([&](Entry& entry) { return entry.identity == file && --entry.users == 0; });
}

} // namespace sidelight::host::memory
