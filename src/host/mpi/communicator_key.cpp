// SPDX-License-Identifier: BSD-3-Clause
#include "host/mpi/communicator_key.hpp"

#include "host/mpi/table.hpp"

namespace sidelight::host::mpi {
namespace {

extern "C" {

/// MPI_Comm_dup: the copy starts without.
int copy_nothing(MPI_Comm, int, void*, void*, void*, int* flag)
{
    *flag = 0;
    return MPI_SUCCESS;
}

} // extern "C"

} // namespace

int create_communicator_key(MPI_Comm_delete_attr_function* removed) noexcept
{
    int key = MPI_KEYVAL_INVALID;
    return table().Comm_create_keyval(copy_nothing, removed, &key, nullptr) == MPI_SUCCESS
               ? key
               : MPI_KEYVAL_INVALID;
}

} // namespace sidelight::host::mpi
