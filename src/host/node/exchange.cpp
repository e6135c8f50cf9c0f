// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/exchange.hpp"

#include "host/mpi/table.hpp"

namespace sidelight::host::node {

bool gather(MPI_Comm comm, const void* mine, void* all, std::size_t bytes) noexcept
{
    const int count = static_cast<int>(bytes);
    return mpi::table().Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, comm) == MPI_SUCCESS;
}

bool agree(MPI_Comm comm, bool mine) noexcept
{
    const int said = mine ? 1 : 0;
    int all = 0;
    return mpi::table().Allreduce(&said, &all, 1, MPI_INT, MPI_LAND, comm) == MPI_SUCCESS &&
           all != 0;
}

} // namespace sidelight::host::node
