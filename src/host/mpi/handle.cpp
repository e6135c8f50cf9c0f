// SPDX-License-Identifier: BSD-3-Clause
#include "host/mpi/handle.hpp"

#include <mutex>
#include <new>
#include <vector>

#include "base/log.hpp"
#include "host/mpi/errors.hpp"
#include "host/mpi/table.hpp"

namespace sidelight::host::mpi {

namespace {

constexpr MPI_Aint handle_bytes = 8;

/// Guards `own`, which another thread may free where it ends a session, and keeps threads from
/// making and freeing handles at once: MPICH 5 keeps its windows in a table without a lock.
/// Recursive, because a handle's delete callbacks may do the same.
std::recursive_mutex own_mutex;
MPI_Comm own = MPI_COMM_NULL;

/// Handles that are kept, on any own communicator; the same lock. All have the name and the error
/// handler of a new one.
std::vector<MPI_Win>& kept()
{
    static auto* const made = new std::vector<MPI_Win>;
    return *made;
}
constexpr std::size_t most_kept = 64;

/// Whether it looks like a new one again.
bool renew(MPI_Win handle) noexcept
{
    return table().Win_set_name(handle, "") == MPI_SUCCESS &&
           table().Win_set_errhandler(handle, MPI_ERRORS_ARE_FATAL) == MPI_SUCCESS;
}

/// The same, null too; its errors return.
MPI_Comm with_errors_returned(MPI_Comm comm) noexcept
{
    if (comm != MPI_COMM_NULL) {
        table().Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    }
    return comm;
}

/// A split, not a duplicate: that would copy the program's attributes.
MPI_Comm split_self() noexcept
{
    MPI_Comm made = MPI_COMM_NULL;
    return table().Comm_split(MPI_COMM_SELF, 0, 0, &made) == MPI_SUCCESS ? made : MPI_COMM_NULL;
}

/// In a program of sessions: the own process out of a communicator, without any other process.
MPI_Comm single_out(MPI_Comm comm) noexcept
{
    int rank = 0;
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group self = MPI_GROUP_NULL;
    MPI_Comm made = MPI_COMM_NULL;
    if (comm == MPI_COMM_NULL || table().Comm_rank(comm, &rank) != MPI_SUCCESS ||
        table().Comm_group(comm, &all) != MPI_SUCCESS) {
        return MPI_COMM_NULL;
    }
    if (table().Group_incl(all, 1, &rank, &self) == MPI_SUCCESS) {
        if (table().Comm_create_group(comm, self, 0, &made) != MPI_SUCCESS) {
            made = MPI_COMM_NULL;
        }
        table().Group_free(&self);
    }
    table().Group_free(&all);
    return made;
}

/// The same, where no communicator may be left. Only a host with sessions is asked.
MPI_Comm single_out(MPI_Group group, int rank) noexcept
{
    MPI_Group self = MPI_GROUP_NULL;
    MPI_Comm made = MPI_COMM_NULL;
    if (table().Comm_create_from_group == nullptr ||
        table().Group_incl(group, 1, &rank, &self) != MPI_SUCCESS) {
        return MPI_COMM_NULL;
    }
    if (table().Comm_create_from_group(self, "sidelight.own", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                       &made) != MPI_SUCCESS) {
        made = MPI_COMM_NULL;
    }
    table().Group_free(&self);
    return made;
}

/// `source...`: what the own process can be singled out of. The caller has the lock.
template <class... Source>
MPI_Comm find_own(Source... source) noexcept
{
    if (own == MPI_COMM_NULL) {
        own = with_errors_returned(world_is_up() ? split_self() : single_out(source...));
    }
    return own;
}

/// The caller has the lock.
Status create_handle_on(MPI_Comm alone, MPI_Win* handle) noexcept
{
    void* unused = nullptr;
    if (alone == MPI_COMM_NULL || table().Win_allocate_shared(handle_bytes, 1, MPI_INFO_NULL, alone,
                                                              &unused, handle) != MPI_SUCCESS) {
        log(LogLevel::error, "the host MPI made no window of %d bytes to serve as a handle",
            static_cast<int>(handle_bytes));
        return Status::other;
    }
    return Status::ok;
}

/// In a program of sessions the handle is made of its window's own, and of nothing that is kept: it
/// would hold the session that this came from. The caller has the lock.
template <class... Source>
Status create_handle_of(MPI_Win* handle, Source... source) noexcept
{
    MPI_Comm const shared = find_own(source...);
    if (world_is_up()) {
        return create_handle_on(shared, handle);
    }
    MPI_Comm alone = with_errors_returned(single_out(source...));
    const Status status = create_handle_on(alone, handle);
    if (alone != MPI_COMM_NULL) {
        table().Comm_free(&alone);
    }
    return status;
}

} // namespace

MPI_Comm own_communicator() noexcept
{
    const std::scoped_lock lock(own_mutex);
    return find_own(MPI_COMM_NULL);
}

void free_own_communicator() noexcept
{
    const std::scoped_lock lock(own_mutex);
    for (MPI_Win& handle : kept()) {
        static_cast<void>(table().Win_free(&handle));
    }
    kept().clear();
    if (own != MPI_COMM_NULL) {
        table().Comm_free(&own);
        own = MPI_COMM_NULL;
    }
}

Status create_handle(MPI_Comm comm, MPI_Win* handle) noexcept
{
    const std::scoped_lock lock(own_mutex);
    return create_handle_of(handle, comm);
}

Status create_handle(MPI_Group group, int rank, MPI_Win* handle) noexcept
{
    const std::scoped_lock lock(own_mutex);
    return create_handle_of(handle, group, rank);
}

Status take_handle(MPI_Group group, int rank, MPI_Win* handle) noexcept
{
    const std::scoped_lock lock(own_mutex);
    if (kept().empty()) {
        return create_handle(group, rank, handle);
    }
    *handle = kept().back();
    kept().pop_back();
    return Status::ok;
}

void give_back_handle(MPI_Win* handle) noexcept
{
    const std::scoped_lock lock(own_mutex);
    try {
        if (world_is_up() && kept().size() < most_kept && renew(*handle)) {
            kept().push_back(*handle);
            *handle = MPI_WIN_NULL;
            return;
        }
    } catch (const std::bad_alloc&) {
        log(LogLevel::debug, "out of memory: a handle is freed and not kept");
    }
    static_cast<void>(table().Win_free(handle));
}

int destroy_handle(MPI_Win* handle) noexcept
{
    std::unique_lock lock(own_mutex, std::defer_lock);
    if (destroys_under_lock) {
        lock.lock();
    }
    return table().Win_free(handle);
}

} // namespace sidelight::host::mpi
