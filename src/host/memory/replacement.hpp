// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/shared_memory.hpp"
#include "host/memory/huge_pages.hpp"
#include "host/memory/span.hpp"

/// Pages of this process change what is behind them, and keep their addresses and contents. Each
/// function has done all, or nothing and answers false with errno. Where other threads run they
/// are stopped (see StoppedThreads), also those that sleep: whoever waits at a word of these pages
/// (futex) would not be found again by who wakes it. Signals must be blocked. The heap may be what
/// is replaced: nothing here allocates or touches it.
namespace sidelight::host::memory {

enum class Others : std::uint8_t {
    none, ///< no other thread, or the user vouches that none uses the pages
    stop, ///< stop them, or fail
};

/// Private anonymous pages of one mapping become pages of a file of memory, at the offset that is
/// their address. What never had a page stays a hole, or zeros of a huge page.
[[nodiscard]] bool move_to_file(Span pages, const File& file, Others others,
                                HugePages huge) noexcept;

/// Pages that are mapped from `offset` on become private anonymous ones again, with advice to use
/// huge pages where that is asked for.
[[nodiscard]] bool move_to_private(Span pages, const File& file, std::uint64_t offset,
                                   Others others, bool huge) noexcept;

/// The same pages of the file, but what is written to them is private from now on. No copy, and no
/// thread needs to be stopped: those that sleep at a word of them are woken.
[[nodiscard]] bool make_private(Span pages, const File& file, std::uint64_t offset) noexcept;

/// Pages of any mapping become private anonymous ones with the same contents, where there is no
/// other thread.
[[nodiscard]] bool copy_to_private(Span pages) noexcept;

/// Whether `others` can be had on this system, tried on pages of our own. The first try also binds
/// every function that the real replacement calls, since the dynamic linker may not run in it.
[[nodiscard]] bool can_replace(Others others) noexcept;

} // namespace sidelight::host::memory
