// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/list.hpp"
#include "base/status.hpp"
#include "host/memory/shareable.hpp"
#include "host/mpi/declarations.hpp"
#include "host/node/memory.hpp"
#include "host/node/node_communicator_cache.hpp"
#include "rma/engine/window.hpp"
#include "runtime/active_operations.hpp"
#include "runtime/flush_number.hpp"
#include "runtime/translated_group.hpp"
#include "runtime/window_info.hpp"
#include "runtime/window_members.hpp"

namespace sidelight::runtime {

/// The bits of no handle.
inline constexpr std::uint64_t no_handle = ~std::uint64_t{0};

/// What the fastest calls know of a window.
struct WindowKey {
    std::atomic<std::uint64_t> key{no_handle}; ///< of the handle; no_handle: not in use
    /// The same for the shortest way of operations that do not order themselves; no_handle also
    /// where the window is to be ordered.
    std::atomic<std::uint64_t> shortest{no_handle};
    /// The same for calls that open and close epochs; no_handle for the windows of memory handles,
    /// which have none.
    std::atomic<std::uint64_t> synchronizing{no_handle};
    /// The same for all calls on it, of whatever window that is ours.
    std::atomic<std::uint64_t> any{no_handle};
    rma::Mapped* mapped = nullptr; ///< the direct path
    rma::Window* window = nullptr; ///< of a memory handle: the parent
};

struct WindowBody;

/// What MPI_Win_get_attr answers, by address.
struct WindowAttributes {
    void* base = nullptr; ///< of this process; null also where a memory handle's is another's
    MPI_Aint size = 0;
    int disp_unit = 1;
    int flavor = 0; ///< MPI_WIN_FLAVOR_...
};

/// A handle of a window of ours, as MPI sees it: the window's own, that of a duplicate, or one
/// that reaches what a memory handle names. What it
/// has of its own is here, what all of a window share is in the body. Its storage is never
/// returned, so that a thread that looks up another window may look at it at any time.
struct WindowObject : WindowKey {
    std::atomic<std::uint64_t> life{0}; ///< of its storage: how many handles it has been
    MPI_Win handle{};
    bool duplicate = false;    ///< not the window's own handle
    Links<WindowObject> among; ///< the duplicates of its window, or spare ones: the table's
    std::shared_ptr<WindowBody> body;
    rma::HandleRegion* region = nullptr; ///< what a memory handle names; null: the window is meant
    rma::Mapped region_mapped;           ///< with a region: the direct path to it
    WindowAttributes region_attributes;
    bool keeps_handle = true; ///< the host's window may be another's afterwards
    bool ordered = false;     ///< operations by this handle, each behind those before it
    /// Its accumulates are compared with what the program has asserted (SIDELIGHT_CHECK_INTRINSIC),
    /// or it is traced. Then it is not in the cache, and its operations take the long way.
    bool watched = false;
    mutable std::atomic<bool> reported{false}; ///< a breach, once for each handle
    /// Flushes by this handle wait for the calling thread's operations (P2, section 2.1).
    std::atomic<bool> thread_scope{false};
    rma::ActiveOrder active_order{}; ///< of active messages by this handle; as `info`
    WindowInfo info; ///< the engine guards it. Keys of the window are in force in the original's
    TranslatedGroup start_group;
    TranslatedGroup post_group;
    std::vector<int> attribute_keys; ///< of the program's, that are set: see attribute_keys.hpp
};

/// What the handles of a window share. The window's own handle has made it, and ends its use.
struct WindowBody {
    WindowObject* original = nullptr;                    ///< the window's own handle; null: freed
    List<WindowObject, &WindowObject::among> duplicates; ///< while it is there; as `among`
    MPI_Group group{};
    WindowAttributes attributes;
    /// The program may reach other members' memory by loads and stores: a shared window, or one
    /// whose addresses it has asked for. Opening calls then wait until access is granted.
    std::atomic<bool> loads_and_stores{false};
    /// The last blocking start or fence has not waited for that; the engine guards it.
    bool opened_ahead = false;
    std::optional<host::node::NodeMemory> memory;
    std::shared_ptr<host::node::NodeCommunicators> communicators; ///< to leave spare memory there
    std::shared_ptr<host::node::KeptMappings> mappings; ///< to leave some there; null: one member
    std::optional<WindowMembers> members;
    host::memory::SharedRange brought; ///< the program's own memory, where others map it
    /// Operations of active messages, by number; null: one that was refused. The engine guards it.
    std::vector<std::shared_ptr<const ActiveOperation>> registered;
    /// So many numbers are taken; the last may be missing above, for want of memory. For the
    /// collective call alone.
    std::size_t registrations = 0;
    /// Where handles are checked: by which kinds of them accumulates were issued.
    std::atomic<bool> accumulated_intrinsic{false};
    std::atomic<bool> accumulated_otherwise{false};
    bool told_private = false; ///< the log says that its memory is private, and why
    std::map<const void*, host::memory::SharedRange> attached; ///< by first address
    std::multiset<const void*> attached_empty;                 ///< where regions of no bytes begin
    std::map<rma::RegionName, host::memory::SharedRange> exposed; ///< by memory handles

    /// The memory ends with the window, though duplicates may keep the body.
    void release_memory() noexcept
    {
        members.reset();
        brought.release();
        attached.clear();
        exposed.clear();
        memory.reset();
        communicators.reset();
        mappings.reset();
    }
};

/// Whose operations an operation or a flush by this handle counts among.
[[nodiscard]] inline rma::ThreadNumber flushing_thread(const WindowObject& object) noexcept
{
    return object.thread_scope.load(std::memory_order_relaxed) ? flush_number_of_thread()
                                                               : rma::no_thread;
}

} // namespace sidelight::runtime
