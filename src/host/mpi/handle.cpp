// SPDX-License-Identifier: BSD-3-Clause
#include "host/mpi/handle.hpp"

#include <mutex>

#include "base/log.hpp"
#include "host/mpi/errors.hpp"
#include "host/mpi/table.hpp"

namespace sidelight::host::mpi {

namespace {

constexpr MPI_Aint handle_bytes = 8;

/// Guards `own`, and keeps threads from making and freeing handles at once: MPICH 5 keeps its
/// windows in a table without a lock. Recursive, because a handle's delete callbacks may do the
/// same.
std::recursive_mutex own_mutex;
MPI_Comm own = MPI_COMM_NULL;

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

MPI_Comm make_own(MPI_Comm comm) noexcept
{
    MPI_Comm made = MPI_COMM_NULL;
    if (!world_is_up()) {
        made = single_out(comm);
    } else if (table().Comm_split(MPI_COMM_SELF, 0, 0, &made) != MPI_SUCCESS) {
        // A split, not a duplicate: that would copy the program's attributes.
        made = MPI_COMM_NULL;
    }
    if (made != MPI_COMM_NULL) {
        table().Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    }
    return made;
}

/// Needs `own_mutex`.
MPI_Comm find_own(MPI_Comm comm) noexcept
{
    if (own == MPI_COMM_NULL) {
        own = make_own(comm);
    }
    return own;
}

} // namespace

MPI_Comm own_communicator(MPI_Comm comm) noexcept
{
    const std::scoped_lock lock(own_mutex);
    return find_own(comm);
}

void free_own_communicator() noexcept
{
    const std::scoped_lock lock(own_mutex);
    if (own != MPI_COMM_NULL) {
        table().Comm_free(&own);
        own = MPI_COMM_NULL;
    }
}

Status create_handle(MPI_Comm comm, MPI_Win* handle) noexcept
{
    // Also keeps two threads from making windows on the one communicator at once.
    const std::scoped_lock lock(own_mutex);
    const MPI_Comm alone = find_own(comm);
    void* unused = nullptr;
    if (alone == MPI_COMM_NULL || table().Win_allocate_shared(handle_bytes, 1, MPI_INFO_NULL, alone,
                                                              &unused, handle) != MPI_SUCCESS) {
        log(LogLevel::error, "the host MPI made no window of %d bytes to serve as a handle",
            static_cast<int>(handle_bytes));
        return Status::other;
    }
    return Status::ok;
}

int destroy_handle(MPI_Win* handle) noexcept
{
#ifdef MPICH_VERSION
    const std::scoped_lock lock(own_mutex);
#endif
    return table().Win_free(handle);
}

} // namespace sidelight::host::mpi
