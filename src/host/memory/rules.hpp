// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "host/memory/address_space.hpp"

/// Which memory may become shareable in place. Pure: what decides is in the arguments. The reasons
/// are in docs/design/user-memory.md.
namespace sidelight::host::memory {

/// Why memory stays private.
enum class Refusal : std::uint8_t {
    none,
    not_asked,       ///< nobody has asked for it to be replaced
    no_memory_there, ///< the range is not mapped, empty, or the kernel does not tell
    not_writable,    ///< peers map for reading and writing
    special,         ///< not ordinary memory: of a file, a stack, locked, with flags we do not know
    edges,           ///< its first or last page holds something else
    unreachable,     ///< shared, but peers cannot map what is behind it
    in_use,          ///< as it is, by another window
    threads,         ///< the program has other threads
    device,          ///< a device may access memory of this process
    forked,          ///< pages are still shared with a parent or child
    placement,       ///< it lies on other NUMA nodes than copies would
    overcommit,      ///< the kernel hands out no more memory than there is
    memory_limit,    ///< there is one, and it is near
    system,          ///< the kernel refused; errno says why
};

/// For the log.
[[nodiscard]] const char* text(Refusal refusal) noexcept;

/// Whether pages of this area may be replaced by pages of a file, as far as the area tells.
/// `local` is an address in this thread's stack.
[[nodiscard]] Refusal refusal_of(const Area& area, std::uintptr_t local) noexcept;

/// Whether pages that lie on these NUMA nodes (negative: on none yet) would still lie there as
/// copies that are made on node `here`.
[[nodiscard]] bool all_on_node(std::span<const int> nodes, int here) noexcept;

} // namespace sidelight::host::memory
