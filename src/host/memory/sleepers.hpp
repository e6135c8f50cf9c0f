// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include <dirent.h>

#include "base/shared_memory.hpp"
#include "host/memory/span.hpp"

namespace sidelight::host::memory {

/// The threads of this process that sleep at a word of these pages of a file (futex), to be woken
/// once the pages have become private: they are known to the kernel by the file and the offset, and
/// nobody else wakes them by that name any more. They look at their word again.
class Sleepers {
public:
    /// To be made before. Not set: it could not find or wake them.
    Sleepers(Span pages, const File& file, std::uint64_t offset) noexcept;
    [[nodiscard]] explicit operator bool() const noexcept { return view_ && threads_; }

    /// Where the kernel may interrupt itself, a thread that was on its way to sleep when the pages
    /// were replaced, and still is when all processors have done something else, is not found.
    void wake() const noexcept;

private:
    struct Close {
        void operator()(DIR* directory) const noexcept { closedir(directory); }
    };

    Span pages_;
    Mapping view_;
    std::unique_ptr<DIR, Close> threads_;
};

} // namespace sidelight::host::memory
