// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>

#include "base/status.hpp"
#include "host/memory/shareable.hpp"
#include "host/mpi/declarations.hpp"
#include "host/node/memory.hpp"
#include "host/node/node_communicator_cache.hpp"
#include "rma/engine/window.hpp"
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
    rma::Window* window = nullptr;
};

/// A window of ours, as MPI sees it. Its storage is never returned, so that a thread that looks up
/// another window may look at it at any time.
struct WindowObject : WindowKey {
    std::atomic<std::uint64_t> life{0}; ///< of its storage: how many windows it has been
    MPI_Win handle{};
    MPI_Comm own{}; ///< a communicator of this process alone; null after MPI_Finalize
    MPI_Group group{};
    void* base = nullptr; ///< of this process, what MPI_WIN_BASE answers
    MPI_Aint size = 0;
    int disp_unit = 1;
    int flavor = 0; ///< MPI_WIN_FLAVOR_...
    int model = 0;  ///< MPI_WIN_UNIFIED
    /// The program may reach other members' memory by loads and stores: a shared window, or one
    /// whose addresses it has asked for. Opening calls then wait until access is granted.
    std::atomic<bool> loads_and_stores{false};
    std::optional<host::node::NodeMemory> memory;
    std::shared_ptr<host::node::NodeCommunicators> communicators; ///< to leave spare memory there
    std::optional<WindowMembers> members;
    host::memory::SharedRange brought; ///< the program's own memory, where others map it
    bool ordered = false;              ///< its operations, each behind those before it
    bool told_private = false;         ///< the log says that its memory is private, and why
    std::map<const void*, host::memory::SharedRange> attached; ///< by first address
    WindowInfo info;
    TranslatedGroup start_group;
    TranslatedGroup post_group;
};

} // namespace sidelight::runtime
