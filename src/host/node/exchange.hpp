// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "host/mpi/declarations.hpp"

namespace sidelight::host::node {

/// Collective: gathers `bytes` from each member, in rank order. Answers whether it worked.
[[nodiscard]] bool gather(MPI_Comm comm, const void* mine, void* all, std::size_t bytes) noexcept;

/// Collective: whether all members say yes.
[[nodiscard]] bool agree(MPI_Comm comm, bool mine) noexcept;

/// Collective: everybody's `mine`, in rank order; empty on failure. Throws std::bad_alloc.
template <class T>
[[nodiscard]] std::vector<T> exchange(MPI_Comm comm, const T& mine, int members)
{
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(static_cast<std::size_t>(members));
    if (!gather(comm, &mine, all.data(), sizeof(T))) {
        all.clear();
    }
    return all;
}

} // namespace sidelight::host::node
