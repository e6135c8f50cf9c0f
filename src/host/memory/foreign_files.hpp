// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <list>
#include <vector>

#include "base/held_file.hpp"
#include "host/memory/address_space.hpp"

namespace sidelight::host::memory {

/// Whether all areas are shared, of one file, and follow one another in it as they do in memory.
[[nodiscard]] bool are_one_file(const std::vector<Area>& areas) noexcept;

/// Files behind memory that was shared before we came, kept open while ranges of ours lie in them:
/// peers open them through our descriptor. Not for several threads at once.
class ForeignFiles {
public:
    /// A descriptor that names the file behind an area, with one more user; -1 where it cannot be
    /// opened again: its name is gone, no descriptor of this process is left, and the kernel does
    /// not open mappings for us. Throws std::bad_alloc.
    int acquire(const Area& area);
    void release(const FileIdentity& file) noexcept;

private:
    struct Entry {
        HeldFile file;
        std::size_t users = 0;
    };
    std::list<Entry> entries_;
};

} // namespace sidelight::host::memory
