// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/settings.hpp"
#include "host/memory/address_space.hpp"

/// Which memory may be made shareable in place. Pure: what decides is in the arguments. The reasons
/// are in docs/design/user-memory.md.
namespace sidelight::host::memory {

/// Why memory stays private. Ordered as they are found.
enum class Refusal : std::uint8_t {
    none,
    policy,          ///< the user does not want it
    no_memory_there, ///< the range is not mapped, empty, or the kernel does not tell
    not_writable,    ///< peers map for reading and writing
    executable,
    file,               ///< a private mapping of a file
    stack,              ///< of this thread
    locked,             ///< mlock
    special,            ///< flags that a replacement would lose, or that we do not know
    pinned,             ///< a device may access memory of this process
    threads,            ///< other threads run, and cannot be stopped
    huge_pages,         ///< the replacement would have no huge pages, and so be slower
    huge_pages_to_come, ///< the same, of huge pages that nothing was written into yet
    too_split,          ///< too many mappings in the range
    unreachable,        ///< shared, but peers cannot open what is behind it
    in_use,             ///< as it is, by another window, or its place in our file by other memory
    file_limit,         ///< a limit on the size of files
    system,             ///< the kernel refused; errno was logged
};

/// For the log.
[[nodiscard]] const char* text(Refusal refusal) noexcept;

/// Whether pages of this area may be replaced by pages of a file, as far as the area tells.
/// `local` is an address in this thread's stack.
[[nodiscard]] Refusal refusal_of(const Area& area, std::uintptr_t local) noexcept;

/// Whether a device may access memory of this process by itself.
[[nodiscard]] inline bool is_pinned(const ProcessState& state) noexcept
{
    return state.pinned != 0 || state.devices;
}

/// Whether the process as it is allows it. `can_stop`: other threads can be stopped while
/// the pages are replaced.
[[nodiscard]] Refusal refusal_of(const ProcessState& state, SharePolicy policy,
                                 bool can_stop) noexcept;

} // namespace sidelight::host::memory
