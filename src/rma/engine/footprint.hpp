// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/bytes.hpp"
#include "base/shared_memory.hpp"
#include "rma/engine/window_parts.hpp"

/// What a window takes of the memory, by the sizes that the engine itself has. Addresses are taken
/// for all members; memory by the page, for what is touched. See docs/design/several-hosts.md.
namespace sidelight::rma {

/// How large a window is, as one of its members sees it.
struct WindowExtent {
    std::size_t members = 0;
    std::size_t on_node = 0;   ///< on this process's node, itself included
    std::size_t elsewhere = 0; ///< those on other nodes that it has had contact with
};

/// `first` bytes at the beginning of a table, and then `entries` that lie anywhere in the rest, are
/// touched: each of these takes a page at most, and all no more than the table.
[[nodiscard]] inline std::size_t touched_bytes(std::size_t table, std::size_t first,
                                               std::size_t entries) noexcept
{
    const std::size_t page = page_size();
    const std::size_t pages = round_up(first, page) + entries * page;
    return std::min(table, pages);
}

/// Addresses that the tables of members take; see Contacts and Channels.
[[nodiscard]] constexpr std::size_t table_addresses(const WindowExtent& window) noexcept
{
    return ZeroedTable<Target>::addresses(window.members) +
           ZeroedTable<Peer>::addresses(window.members) +
           ZeroedTable<Channel*>::addresses(window.members);
}

/// Memory that the engine takes in each process, without its control block. Members on the node are
/// taken to have neighbouring ranks and no channel, others not.
[[nodiscard]] inline std::size_t engine_bytes(const WindowExtent& window) noexcept
{
    return sizeof(Window) + sizeof(WindowParts) + window.elsewhere * sizeof(Channel) +
           touched_bytes(ZeroedTable<Target>::addresses(window.members),
                         window.on_node * sizeof(Target), window.elsewhere) +
           touched_bytes(ZeroedTable<Peer>::addresses(window.members),
                         window.on_node * sizeof(Peer), window.elsewhere) +
           touched_bytes(ZeroedTable<Channel*>::addresses(window.members), 0, window.elsewhere);
}

/// What a lock_all epoch adds in each process while it is open: contact with all members.
[[nodiscard]] inline std::size_t lock_all_bytes(const WindowExtent& window) noexcept
{
    return window.members * (sizeof(PeerEpoch) + sizeof(Channel)) + sizeof(Window) +
           sizeof(WindowParts) + table_addresses(window) - engine_bytes(window);
}

/// Addresses in the node's memory that the block of one member takes.
[[nodiscard]] inline std::size_t control_addresses(const WindowExtent& window) noexcept
{
    return Control::bytes(window.members, window.on_node);
}

/// Memory of it: the notices of those with whom post and start are used are touched.
[[nodiscard]] inline std::size_t control_bytes(const WindowExtent& window) noexcept
{
    return touched_bytes(control_addresses(window),
                         sizeof(Control) +
                             window.on_node * (sizeof(PeerNotices) + sizeof(OfferWord)),
                         window.elsewhere);
}

} // namespace sidelight::rma
