// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <list>

#include "base/shared_memory.hpp"
#include "host/memory/survey.hpp"

namespace sidelight::host::memory {

/// Files behind memory that was shared before we came, kept open while ranges of ours lie in them:
/// peers open them through our descriptor. Not for several threads at once.
class ForeignFiles {
public:
    /// The descriptor of a file with one more user; -1 where it cannot be opened again: its name is
    /// gone, no descriptor of this process is left, and the kernel does not open mappings for us.
    /// Throws std::bad_alloc.
    int acquire(const FileIdentity& file, Span area);
    void release(const FileIdentity& file) noexcept;

private:
    struct Entry {
        FileIdentity identity;
        File file;
        std::size_t users = 0;
    };
    std::list<Entry> entries_;
};

} // namespace sidelight::host::memory
