// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/mpi/cache.hpp"

#include <atomic>
#include <mutex>
#include <new>

#include "datatype/mpi/contents.hpp"
#include "datatype/mpi/flatten.hpp"
#include "host/mpi/table.hpp"

namespace sidelight::datatype {
namespace {

using host::mpi::table;

/// Guards the making of layouts and the registry of predefined types.
std::mutex making;

/// The key of the attribute that holds a counted reference to a Layout. Stored under `making`.
std::atomic<int> attribute_key{MPI_KEYVAL_INVALID};

std::atomic<MPI_Comm> commit_probe{MPI_COMM_NULL};

extern "C" {

/// MPI_Type_dup: both types hold the layout.
int share_layout(MPI_Datatype, int, void*, void* layout, void* copy, int* flag)
{
    acquire(*static_cast<const Layout*>(layout));
    *static_cast<void**>(copy) = layout;
    *flag = 1;
    return MPI_SUCCESS;
}

int drop_layout(MPI_Datatype, int, void* layout, void*)
{
    release(static_cast<const Layout*>(layout));
    return MPI_SUCCESS;
}

} // extern "C"

const Layout* cached(MPI_Datatype type) noexcept
{
    const int key = attribute_key.load(std::memory_order_acquire);
    void* layout = nullptr;
    int found = 0;
    if (key == MPI_KEYVAL_INVALID) {
        return nullptr;
    }
    table().Type_get_attr(type, key, &layout, &found);
    return found != 0 ? static_cast<const Layout*>(layout) : nullptr;
}

bool open_cache() noexcept
{
    int key = attribute_key.load(std::memory_order_relaxed);
    if (key != MPI_KEYVAL_INVALID) {
        return true;
    }
    if (table().Type_create_keyval(share_layout, drop_layout, &key, nullptr) != MPI_SUCCESS) {
        return false;
    }
    attribute_key.store(key, std::memory_order_release);
    return true;
}

bool is_committed(MPI_Datatype type) noexcept
{
    const MPI_Comm comm = commit_probe.load(std::memory_order_relaxed);
    const char unread = 0; // and of count 0 MPICH does not look at the type
    return comm == MPI_COMM_NULL ||
           table().Send(&unread, 1, type, MPI_PROC_NULL, 0, comm) == MPI_SUCCESS;
}

/// Negative: it cannot be a type at all. MPICH keeps those that have been freed in a list, whose
/// links lie where the sizes were: an address is more bytes than a process has, and behind the last
/// is none.
MPI_Count size_of(MPI_Datatype type) noexcept
{
    constexpr MPI_Count most = MPI_Count{1} << 44;
    MPI_Count size = 0;
    return table().Type_size_x(type, &size) == MPI_SUCCESS && size < most ? size : -1;
}

/// The first use of a type, or of any type.
const Layout* make_layout(MPI_Datatype type)
{
    const std::lock_guard lock(making);
    register_predefined();
    if (const Layout* layout = layout_of_predefined(type)) {
        return layout;
    }
    if (const Layout* layout = cached(type)) {
        return layout; // made by another thread meanwhile
    }
    const MPI_Count size = size_of(type);
    if (size < 0) {
        return nullptr;
    }
    if (size > 0) { // without data nobody asks for contents, which may have been freed
        const int combiner = combiner_of(type);
        if (is_predefined(combiner)) {
            return register_further(type, combiner);
        }
    }
    if (!open_cache() || !is_committed(type)) {
        return nullptr;
    }
    LayoutPointer layout = flatten(type, size);
    const int key = attribute_key.load(std::memory_order_relaxed);
    if (layout == nullptr ||
        table().Type_set_attr(type, key, const_cast<Layout*>(layout.get())) != MPI_SUCCESS) {
        return nullptr;
    }
    return layout.release(); // the attribute's now
}

} // namespace

const Layout* layout_of(MPI_Datatype type, Status& why) noexcept
{
    if (const Layout* layout = layout_of_predefined(type)) {
        return layout;
    }
    why = Status::type;
    if (type == MPI_DATATYPE_NULL) {
        return nullptr;
    }
    if (const Layout* layout = cached(type)) {
        return layout;
    }
    try {
        return make_layout(type);
    } catch (const std::bad_alloc&) {
        why = Status::no_memory;
        return nullptr;
    } catch (...) {
        return nullptr;
    }
}

void set_commit_probe(MPI_Comm comm) noexcept
{
    commit_probe.exchange(comm, std::memory_order_acq_rel);
}

void close_cache() noexcept
{
    const std::lock_guard lock(making);
    int key = attribute_key.exchange(MPI_KEYVAL_INVALID, std::memory_order_acq_rel);
    if (key != MPI_KEYVAL_INVALID) {
        table().Type_free_keyval(&key);
    }
    forget_further();
}

} // namespace sidelight::datatype
