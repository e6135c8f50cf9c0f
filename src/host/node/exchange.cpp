// SPDX-License-Identifier: BSD-3-Clause
#include "host/node/exchange.hpp"

#include "host/mpi/table.hpp"

namespace sidelight::host::node {

using mpi::table;

bool Exchange::agree(bool mine) noexcept
{
    const std::uint64_t said = mine ? 1 : 0;
    std::uint64_t all = 0;
    return find_least({&said, 1}, {&all, 1}) && all != 0;
}

int HostExchange::members() const noexcept
{
    int members = 0;
    table().Comm_size(comm_, &members);
    return members;
}

int HostExchange::index() const noexcept
{
    int rank = 0;
    table().Comm_rank(comm_, &rank);
    return rank;
}

bool HostExchange::gather(const void* mine, void* all, std::size_t bytes) noexcept
{
    const int count = static_cast<int>(bytes);
    return table().Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, comm_) == MPI_SUCCESS;
}

bool HostExchange::find_least(std::span<const std::uint64_t> mine,
                              std::span<std::uint64_t> least) noexcept
{
    return table().Allreduce(mine.data(), least.data(), static_cast<int>(mine.size()), MPI_UINT64_T,
                             MPI_MIN, comm_) == MPI_SUCCESS;
}

} // namespace sidelight::host::node
